#include "data/image/image_reader.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "data/image/decode.h"
#include "data/image/mirror_step.h"

namespace thalweg::data {
namespace {

// The sizes that a step gives to pictures of any size; -1 where they depend on the picture's.
Shape shape_after(const TransformStep& step, const StreamInfo& stream) {
  const auto after = [&](int64_t size) {
    Shape shape = stream.shape;
    for (int64_t& d : shape)
      if (d < 0) d = size;
    return step.output({stream.name, stream.dtype, shape}).shape;
  };
  Shape shape = after(10007);
  const Shape other = after(10009);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != other[i]) shape[i] = -1;
  return shape;
}

}  // namespace

ImageReader::ImageReader(const ImageOptions& options) : options_(options) {
  if (options.height < 0 || options.width < 0 || (options.height == 0) != (options.width == 0)) {
    fail_invalid("image: height {} and width {} must be given both, or neither", options.height,
                 options.width);
  }
  const auto or_any = [](int64_t size) { return size == 0 ? -1 : size; };
  stream_ = {options.image,
             DType::u8,
             {options.decode.channels, or_any(options.height), or_any(options.width)}};
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

size_t ImageReader::absorb(const std::vector<ReadStep>& steps) {
  if (is_absorbing()) return 0;
  size_t taken = 0;
  if (taken < steps.size() && dynamic_cast<const WindowStep*>(steps[taken].transform.get()))
    window_ = steps[taken++];
  if (taken < steps.size()) {
    const auto* mirror = dynamic_cast<const MirrorStep*>(steps[taken].transform.get());
    if (mirror && mirror->mirrors_columns()) mirror_ = steps[taken++];
  }
  if (window_.transform) stream_.shape = shape_after(*window_.transform, stream_);
  return taken;
}

Window ImageReader::draw_window(const ImageSize& size, const SequenceDraw& draw) const {
  const bool swaps = swaps_axes(size.orientation);
  const int64_t height = swaps ? size.width : size.height;
  const int64_t width = swaps ? size.height : size.width;
  Window window = whole_window({0, 0, height, width});
  if (window_.transform) {
    Philox random = window_.random(draw);
    window = static_cast<const WindowStep&>(*window_.transform).window(height, width, random);
  }
  if (mirror_.transform) {
    Philox random = mirror_.random(draw);
    window.mirrored = dynamic_cast<const MirrorStep&>(*mirror_.transform).draw(random);
  }
  if (window.mirrored) window.left = window.width - window.inner_width - window.left;
  return window;
}

StreamValues ImageReader::decode_window(Bytes bytes, const ImageSize& size, const Window& window,
                                        uint64_t place, const std::string& where,
                                        ProblemLog& log) const {
  const ImageWindow source = decode_part(bytes, size, window, options_.decode, where);
  if (!source.warning.empty()) log.warn(place, source.warning);
  const int64_t channels = source.pixels.channels;
  const int64_t plane = window.height * window.width;
  auto values = std::make_shared_for_overwrite<uint8_t[]>(static_cast<size_t>(channels * plane));
  if (window.inner_height != window.height || window.inner_width != window.width) {
    std::fill_n(values.get(), channels * plane,
                static_cast<uint8_t>(std::clamp(std::round(window.fill), 0.0, 255.0)));
  }
  resample_pixels(source.pixels,
                  {source.part.top, source.part.left, source.part.height, source.part.width,
                   window.inner_height, window.inner_width, window.interpolation, window.mirrored},
                  options_.decode.order == ChannelOrder::bgr,
                  {values.get() + window.top * window.width + window.left, window.width, plane});
  StreamValues result;
  result.samples = 1;
  result.shape = {channels, window.height, window.width};
  result.values = values.get();
  result.owner = std::move(values);
  return result;
}

StreamValues ImageReader::decode(Bytes bytes, uint64_t place, const std::string& where,
                                 const SequenceDraw& draw, ProblemLog& log) const {
  const ImageSize size = size_of_image(bytes, options_.decode, where);
  check_size(size, where);
  if (is_absorbing()) return decode_window(bytes, size, draw_window(size, draw), place, where, log);
  const ImagePart part = decode_whole(bytes, size, options_.decode, where);
  if (!part.warning.empty()) log.warn(place, part.warning);
  auto planes =
      std::make_shared<Tensor>(to_planes(part.pixels, options_.decode.order == ChannelOrder::bgr));
  StreamValues values;
  values.samples = 1;
  values.shape = planes->shape();
  values.values = planes->impl()->as<const uint8_t>();
  values.owner = std::move(planes);
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
