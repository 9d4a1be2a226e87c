#pragma once

#include <thalweg/model/safetensors.h>

namespace thalweg::model {

/// The content of fixtures/reference.safetensors: every dtype that NumPy has too, a 0-d tensor, one
/// without elements, a name that JSON has to escape.
inline NamedTensors sample_tensors() {
  NamedTensors tensors;
  tensors["0.weight"] = Tensor::of({0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 2.5f}, {2, 3});
  tensors["0.bias"] = Tensor::of({-1.0f, 1.0f});
  tensors["half"] = Tensor::of({1.0f, 65504.0f, -0x1p-24f}).to(DType::f16);
  tensors["double"] = Tensor::of({3.14159265358979323846});
  tensors["count"] = Tensor::of({(int64_t{1} << 40) + 1}, {});
  tensors["i32"] = Tensor::of({INT32_MIN});
  tensors["i16"] = Tensor::of({int16_t{-7}}, {1, 1});
  tensors["i8"] = Tensor::of({int8_t{-128}, int8_t{127}});
  tensors["u8"] = Tensor::of({uint8_t{255}, uint8_t{0}});
  tensors["flag"] = Tensor::of({true, false, true});
  tensors["empty"] = Tensor::empty({3, 0, 2});
  tensors["na\"me\n\u00e9"] = Tensor::of({4.0f});
  return tensors;
}

inline Metadata sample_metadata() { return {{"format", "a \"test\""}}; }

}  // namespace thalweg::model
