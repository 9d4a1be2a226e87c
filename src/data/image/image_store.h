#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <thalweg/data/image_files.h>

#include "data/formats/byte_source.h"

namespace thalweg::data {

/// Encoded pictures by number, each with a label. Any thread may call any function.
class ImageStore {
 public:
  virtual ~ImageStore() = default;

  virtual std::string name() const = 0;
  virtual int64_t size() const = 0;
  /// The bytes of a picture's file.
  virtual std::string read(int64_t item) const = 0;
  virtual int64_t label(int64_t item) const = 0;
  /// Where the picture is listed and what it is called.
  virtual std::string where(int64_t item) const = 0;
  virtual KeyKind key_kind() const { return KeyKind::position; }
  virtual SequenceKey key(int64_t item) const { return static_cast<uint64_t>(item); }
  virtual std::vector<std::string> class_names() const { return {}; }
};

std::unique_ptr<ImageStore> open_image_map(const std::string& path, const ImageOptions& options);
std::unique_ptr<ImageStore> open_image_folder(const std::string& folder,
                                              const ImageOptions& options);
std::unique_ptr<ImageStore> open_base64_images(std::unique_ptr<ByteSource> source,
                                               const ImageOptions& options);

/// A label in a text file. Throws Error{io}, naming `where`, unless it is a whole number of the
/// classes.
int64_t parse_label(std::string_view text, int64_t classes, const std::string& where);

}  // namespace thalweg::data
