#pragma once

// Pictures of nets, as MXNet's plot_network drew them: a box for each call of a layer and for each
// op between layers, shapes on the arrows, a colour for each kind of layer, no weights.

#include <string>

#include <thalweg/graph/diagram.h>
#include <thalweg/nn/module.h>

namespace thalweg::nn {

/// Calls the net on `input` in prediction mode, and shows what it did: who read whose results, so
/// that branches are drawn however the net's code makes them. Shapes are those of a sample, without
/// the first dimension. Throws what the call throws.
THALWEG_API Diagram diagram(Module& net, const Tensor& input);

enum class PlotFormat : uint8_t { dot, svg };

struct PlotOptions {
  PlotFormat format = PlotFormat::dot;
  DType dtype = DType::f32;  ///< of the input
};

/// The net as a text in Graphviz's DOT language, or as an SVG file, called on zeros of that shape:
///
///   write_file("net.svg", tw::plot_network(net, {1, 784}, {.format = tw::nn::PlotFormat::svg}));
THALWEG_API std::string plot_network(Module& net, const Shape& input, PlotOptions options = {});

}  // namespace thalweg::nn

namespace thalweg {
using nn::plot_network;
}
