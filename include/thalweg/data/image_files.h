#pragma once

// Pictures in files as a corpus: listed in a map file, in one folder per class, in a zip archive,
// in base64, or in RecordIO. Streams are "image", u8 [channels, height, width], and "label", i64
// [].

#include <string>

#include <thalweg/data/image.h>
#include <thalweg/data/wrapped_deserializer.h>

namespace thalweg::data {

struct ImageOptions {
  DecodeOptions decode = {};
  /// The size of all pictures, another one being bad; 0: differs, the stream has -1. What
  /// transforms make of pictures of different sizes counts in minibatches.
  int64_t height = 0;
  int64_t width = 0;
  int64_t classes = 0;    // labels are in [0, classes), others are errors; 0: any whole number
  std::string root = {};  // pictures outside of this folder are refused; "": none is
  std::string image = "image";  // names of the streams
  std::string label = "label";
  int64_t max_errors = 0;  // pictures that cannot be read and are dropped; one more is an error
};

/// A map file as CNTK's: rows of `path TAB label` or `key TAB path TAB label`. Paths are relative
/// to the map file's folder, which `...` at their start also means; `archive.zip@/name` is an entry
/// of a zip archive. Keys that are all whole numbers are numbers, else texts. Faults of the map
/// file and names that are not in an archive are found when it is opened; pictures when they are
/// read.
class THALWEG_API ImageDeserializer final : public WrappedDeserializer {
 public:
  explicit ImageDeserializer(const std::string& map_file, ImageOptions options = {});
};

/// A folder, or a zip archive, with a folder per class, at any depth in it: *.jpg, *.jpeg and
/// *.png, in the order of their paths. Classes are numbered in the order of their names.
class THALWEG_API ImageFolderDeserializer final : public WrappedDeserializer {
 public:
  explicit ImageFolderDeserializer(const std::string& folder, ImageOptions options = {});
};

/// CNTK's rows of `label TAB base64` or `key TAB label TAB base64`, plain, gzip or zstd.
class THALWEG_API Base64ImageDeserializer final : public WrappedDeserializer {
 public:
  explicit Base64ImageDeserializer(const std::string& path, ImageOptions options = {});
};

struct RecordImageOptions {
  ImageOptions image = {};
  std::string index = {};  // "": `path` with .idx in place of its ending if that exists; without an
                           // index the file is searched for records as far as they are asked for
  int64_t labels = 0;      // 0: a class, i64 []; else f32 [labels], as they stand in the file
};

/// MXNet's packed pictures (see recordio.h), in the order in which they lie in the file. With an
/// index their keys are its keys, else they have none.
class THALWEG_API RecordImageDeserializer final : public WrappedDeserializer {
 public:
  explicit RecordImageDeserializer(const std::string& path, RecordImageOptions options = {});
};

}  // namespace thalweg::data
