#pragma once

// What kinds of layers and ops there are in a diagram, and their colours.

#include <string_view>

#include <thalweg/ops/op.h>

namespace thalweg {

struct KindColours {
  const char* mark;  // strong: a mark on a box, on light and dark paper
  const char* fill;  // pale: a box under black letters, as MXNet's plot_network has them
};

/// Of a DiagramNode's kind; those of "other" for one without colours of its own.
KindColours kind_colours(std::string_view kind);

/// The kind of a layer from the name of its type, "conv" of "Conv2DTranspose".
std::string_view kind_of_type(std::string_view type_name);

/// The kind of an op: "dense" of linear and matmul, "shape" of views.
std::string_view kind_of_op(const Op& op);

}  // namespace thalweg
