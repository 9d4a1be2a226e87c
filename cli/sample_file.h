#pragma once

#include <string>

#include <thalweg/tensor/tensor.h>

namespace thalweg::cli {

/// The samples in a file, f32 [N, ...sample]: an IDX file (plain or gzip; u8 is taken as pixels and
/// divided by 255), a PNG or JPEG picture (grey unless a sample is [3, H, W]; likewise), or a text
/// of numbers, a sample a line, separated by commas, blanks or tabs. One sample alone may come
/// without the first axis. Throws Error{io}, with the place, for a damaged file or one whose
/// samples have another size.
Tensor read_samples(const std::string& path, const Shape& sample);

}  // namespace thalweg::cli
