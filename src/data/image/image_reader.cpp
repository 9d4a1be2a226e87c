#include "data/image/image_reader.h"

#include "base/fail.h"
#include "data/image/decode.h"

namespace thalweg::data {

ImageReader::ImageReader(const ImageOptions& options) : options_(options) {
  if (options.height < 0 || options.width < 0 || (options.height == 0) != (options.width == 0)) {
    fail_invalid("image: height {} and width {} must be given both, or neither", options.height,
                 options.width);
  }
  const auto or_any = [](int64_t size) { return size == 0 ? -1 : size; };
  stream_ = {
      "image", DType::u8, {options.decode.channels, or_any(options.height), or_any(options.width)}};
}

void ImageReader::check_size(const ImageSize& size, const std::string& where) const {
  const bool swaps = swaps_axes(size.orientation);
  const int64_t height = swaps ? size.width : size.height;
  const int64_t width = swaps ? size.height : size.width;
  if (options_.height == 0 || (height == options_.height && width == options_.width)) return;
  fail_io(
      "image: the picture has another size; {}: expected {} x {} (width x height), found {} x {}",
      where, options_.width, options_.height, width, height);
}

StreamValues ImageReader::decode(Bytes bytes, uint64_t place, const std::string& where,
                                 const SequenceDraw&, ProblemLog& log) const {
  const ImageSize size = size_of_image(bytes, options_.decode, where);
  check_size(size, where);
  const ImagePart part = decode_whole(bytes, size, options_.decode, where);
  if (!part.warning.empty()) log.warn(place, part.warning);
  const Tensor planes = to_planes(part.pixels, options_.decode.order == ChannelOrder::bgr);
  StreamValues values;
  values.samples = 1;
  values.shape = planes.shape();
  values.values = planes.impl()->as<const uint8_t>();
  values.owner = std::make_shared<Tensor>(planes);
  return values;
}

void ImageReader::drop(uint64_t place, const std::string& where, const Error& error,
                       ProblemLog& log) {
  if (error.kind() != ErrorKind::io) throw error;
  const std::string text = error.what();
  log.drop(place, text.find(where) == std::string::npos
                      ? fmt::format("image: cannot be read; {}: {}", where, text)
                      : text);
}

}  // namespace thalweg::data
