#pragma once

// Arrays in files as a corpus: the first axis of each is the samples, and every sample a sequence.

#include <string>
#include <vector>

#include <thalweg/data/wrapped_deserializer.h>

namespace thalweg::data {

/// A stream and the file of its array.
struct ArrayFile {
  std::string stream;
  std::string path;
};

/// NPY files in row-major order, of equally many samples.
class THALWEG_API NPYDeserializer final : public WrappedDeserializer {
 public:
  explicit NPYDeserializer(const std::vector<ArrayFile>& files);
  /// An NPZ file: one stream per array, called by its name; compressed arrays are unpacked into a
  /// temporary file. Or an NPY file: one stream "data".
  explicit NPYDeserializer(const std::string& path);
};

/// IDX files (see idx.h), plain, gzip or zstd, of equally many samples.
class THALWEG_API IDXDeserializer final : public WrappedDeserializer {
 public:
  explicit IDXDeserializer(const std::vector<ArrayFile>& files);
};

}  // namespace thalweg::data
