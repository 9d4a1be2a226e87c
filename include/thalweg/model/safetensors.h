#pragma once

// Safetensors files: named tensors behind a JSON header, as Hugging Face's library writes them.
//
//   bytes 0..7    size N of the header, lowest byte first
//   8 .. 8+N      {"__metadata__": {text: text}, name: {"dtype": "F32", "shape": [..],
//                 "data_offsets": [begin, end]}, ...}, padded with blanks
//   the rest      the elements, row-major, lowest byte first; offsets count from here
//
// A file is checked as a whole before anything is taken from it: sizes against the file's, that the
// tensors cover the data without gaps or overlaps, names that appear once. Errors are of kind io
// and say file, place, what was expected and what was found.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/base/export.h>
#include <thalweg/base/file.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::model {

/// Free text of the file's author, by key.
using Metadata = std::map<std::string, std::string>;
using NamedTensors = std::map<std::string, Tensor>;

/// Where one tensor lies in a file.
struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t begin = 0, end = 0;  ///< bytes, from the start of the file
};

/// A file that was opened and checked; tensors are copied out of it when asked for. The file must
/// not change meanwhile.
class THALWEG_API SafetensorsFile {
 public:
  /// Dtypes are the ten of DType; a file with others (U32, F8_E4M3 ...) is refused.
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  /// In the order of the data.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  /// Null if there is none of that name.
  const TensorEntry* find(std::string_view name) const;

  /// A copy of one tensor on the cpu.
  Tensor read(const TensorEntry& entry) const;
  /// Throws Error{io} with the nearest name when there is none of that name.
  Tensor read(std::string_view name) const;
  NamedTensors read_all() const;

 private:
  std::string path_;
  MappedFile file_;
  std::vector<TensorEntry> entries_;
  Metadata metadata_;
};

/// Writes the tensors to a new file that takes the place of `path` as a whole; see AtomicFile.
/// Layout and order are those of the safetensors library, so that equal content gives equal bytes.
/// Throws Error{invalid} for a name that is empty, "__metadata__" or not UTF-8, and for an
/// undefined tensor.
THALWEG_API void save_safetensors(const std::string& path, const NamedTensors& tensors,
                                  const Metadata& metadata = {});

}  // namespace thalweg::model
