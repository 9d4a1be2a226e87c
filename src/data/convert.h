#pragma once

#include <cstddef>

#include <thalweg/data/sample_source.h>

namespace thalweg::data {

/// out[i] = in[i] * scale + shift for n values; to integers the fraction is cut and what is out of
/// range becomes the nearest value that is in it.
using ConvertFunction = void (*)(const void* in, void* out, size_t n, double scale, double shift);

/// The fastest loop from one dtype to another.
ConvertFunction find_convert(DType from, DType to);

/// A conversion made ready for samples of one dtype and shape.
class SampleConverter {
 public:
  /// Throws Error{invalid}, naming `operation`, when the entries of `conversion` do not fit
  /// `shape`.
  SampleConverter(const char* operation, DType from, const Shape& shape, Conversion conversion);

  const Conversion& conversion() const { return conversion_; }

  void operator()(const std::byte* in, std::byte* out) const {
    const size_t channels = conversion_.scale.size();
    for (size_t c = 0; c < channels; ++c) {
      function_(in + c * in_bytes_, out + c * out_bytes_, n_, conversion_.scale[c],
                conversion_.shift[c]);
    }
  }

 private:
  Conversion conversion_;  // scale and shift with as many entries as each other
  ConvertFunction function_;
  size_t n_;  // values per entry
  size_t in_bytes_;
  size_t out_bytes_;
};

/// What `second` makes of the values `first` has made; both for the same samples.
Conversion compose(const Conversion& first, const Conversion& second);

}  // namespace thalweg::data
