#pragma once

#include <thalweg/data/sets.h>

namespace thalweg::data {

/// u8 images [n, height, width] or [n, channels, height, width] and i64 labels [n] as a data set of
/// pixels / 255.
Dataset make_image_set(std::string name, const Tensor& images, const Tensor& labels, bool flat,
                       std::vector<std::string> class_names);

}  // namespace thalweg::data
