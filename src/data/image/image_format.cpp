// The rows of pictures in the table of formats.

#include <thalweg/data/image_files.h>

#include "base/fail.h"
#include "data/formats/format_rows.h"
#include "data/formats/format_values.h"

namespace thalweg::data {
namespace {

ImageOptions options_of(const char* format, const FormatOptions& options) {
  const OptionValues values(format, options.more);
  ImageOptions image;
  image.decode.channels = values.number("channels", 3);
  image.decode.order = values.flag("bgr", options.compat) ? ChannelOrder::bgr : ChannelOrder::rgb;
  image.decode.upright = values.flag("upright", true);
  image.height = values.number("height", 0);
  image.width = values.number("width", 0);
  image.classes = values.number("classes", 0);
  image.root = values.text("root");
  image.image = values.text("image", "image");
  image.label = values.text("label", "label");
  image.max_errors = options.max_errors;
  return image;
}

std::shared_ptr<Deserializer> open_map(const std::string& path, const FormatOptions& options) {
  return std::make_shared<ImageDeserializer>(path, options_of("images", options));
}
std::shared_ptr<Deserializer> open_folder(const std::string& path, const FormatOptions& options) {
  return std::make_shared<ImageFolderDeserializer>(path, options_of("imagefolder", options));
}
std::shared_ptr<Deserializer> open_base64(const std::string& path, const FormatOptions& options) {
  return std::make_shared<Base64ImageDeserializer>(path, options_of("base64images", options));
}
std::shared_ptr<Deserializer> open_records(const std::string& path, const FormatOptions& options) {
  const OptionValues values("recordio", options.more);
  RecordImageOptions records{options_of("recordio", options), values.text("index"),
                             values.number("labels", 0)};
  return std::make_shared<RecordImageDeserializer>(path, records);
}

Format common() {
  Format format;
  format.options = {{"channels", "3, or 1: grey"},
                    {"bgr", "true: channels in the order of CNTK; also by compat"},
                    {"upright", "false: leave pictures as they lie in the file"},
                    {"height", "of all pictures, else they are bad"},
                    {"width", "likewise"},
                    {"classes", "labels are from 0 to one less, else they are errors"},
                    {"image", "the name of the stream of pictures"},
                    {"label", "the name of the stream of labels"}};
  return format;
}

}  // namespace

Format image_map_format() {
  Format format = common();
  format.name = "images";
  format.doc = "a map file: rows of `[key TAB] path TAB label`, also archive.zip@/name";
  format.extensions = {".map"};
  format.options.push_back({"root", "pictures outside of this folder are refused"});
  format.open = open_map;
  return format;
}

Format image_folder_format() {
  Format format = common();
  format.name = "imagefolder";
  format.doc = "a folder or zip archive with a folder of pictures per class";
  format.extensions = {".zip"};
  format.open = open_folder;
  return format;
}

Format base64_images_format() {
  Format format = common();
  format.name = "base64images";
  format.doc = "rows of `[key TAB] label TAB base64`";
  format.extensions = {".b64"};
  format.open = open_base64;
  return format;
}

Format recordio_format() {
  Format format = common();
  format.name = "recordio";
  format.doc = "MXNet's packed pictures, with the index beside them if there is one";
  format.extensions = {".rec"};
  format.options.push_back({"index", "the index file"});
  format.options.push_back({"labels", "so many numbers as labels; 0: a class"});
  format.open = open_records;
  return format;
}

}  // namespace thalweg::data
