#pragma once

// Pictures as tensors: JPEG and PNG.

#include <string>

#include <thalweg/base/bytes.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::data {

/// The order of the channels of a colour picture.
enum class ChannelOrder { rgb, bgr };

struct DecodeOptions {
  int64_t channels = 3;  // 3, or 1: grey
  ChannelOrder order = ChannelOrder::rgb;
  bool upright = true;  // turns pictures as their Exif orientation says, as viewers do
};

/// The picture in the bytes of a JPEG or PNG file as u8 [channels, height, width]; `name` is what
/// errors blame. Grey pictures get three equal channels; colours become grey by ITU-R BT.601; alpha
/// is left out; CMYK is taken as Adobe writes it, 255 being no ink. Throws Error{io} for other
/// files and damaged ones, and before memory is taken for pictures of more than 2^28 pixels.
THALWEG_API Tensor decode_image(Bytes bytes, const DecodeOptions& options = {},
                                const std::string& name = "image");

/// The same for a file.
THALWEG_API Tensor read_image(const std::string& path, const DecodeOptions& options = {});

}  // namespace thalweg::data
