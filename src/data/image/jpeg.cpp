#include "data/image/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>
// After jpeglib.h, which it needs.
#include <jerror.h>

#include "base/fail.h"
#include "data/image/exif.h"

namespace thalweg::data {
namespace {

constexpr JOCTET kEnd[] = {0xFF, JPEG_EOI};

// libjpeg's state. Its errors jump: functions that call it hold nothing with a destructor.
class Jpeg {
 public:
  explicit Jpeg(Bytes bytes) : bytes_(bytes) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
    info_.client_data = this;
    jpeg_create_decompress(&info_);
    source_.init_source = [](j_decompress_ptr) {};
    source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = on_empty;
    source_.skip_input_data = on_skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source_.bytes_in_buffer = bytes.size();
    info_.src = &source_;
  }
  ~Jpeg() { jpeg_destroy_decompress(&info_); }
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

  const jpeg_decompress_struct& info() const { return info_; }
  const char* message() const { return message_; }
  bool is_damaged() const { return damaged_; }
  bool ran_out() const { return ran_out_; }

  // All of these return false after an error.
  bool read_header();
  bool start(int shrink, J_COLOR_SPACE colours);
  bool select(const PixelBox& box, JDIMENSION& left, JDIMENSION& width);
  bool skip_rows(JDIMENSION n);
  bool read_rows(uint8_t* to, size_t row_bytes, JDIMENSION n);
  bool finish();

  int orientation() const;

 private:
  static Jpeg& self(j_common_ptr info) { return *static_cast<Jpeg*>(info->client_data); }

  [[noreturn]] static void on_error(j_common_ptr info) {
    info->err->format_message(info, self(info).message_);
    std::longjmp(self(info).jump_, 1);
  }
  // Warnings that mean wrong pixels, as against those about bytes that are too many.
  static void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = info->err->msg_code;
    const bool is_harmless = code == JWRN_JPEG_EOF || code == JWRN_EXTRANEOUS_DATA ||
                             code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
                             code == JWRN_TOO_MUCH_DATA;
    Jpeg& jpeg = self(info);
    if (is_harmless || jpeg.damaged_) return;
    jpeg.damaged_ = true;
    info->err->format_message(info, jpeg.message_);
  }
  static boolean on_empty(j_decompress_ptr info) {
    self(reinterpret_cast<j_common_ptr>(info)).ran_out_ = true;
    info->src->next_input_byte = kEnd;
    info->src->bytes_in_buffer = sizeof(kEnd);
    return TRUE;
  }
  static void on_skip(j_decompress_ptr info, long n) {
    if (n <= 0) return;
    if (static_cast<size_t>(n) > info->src->bytes_in_buffer) {
      on_empty(info);
      return;
    }
    info->src->next_input_byte += n;
    info->src->bytes_in_buffer -= static_cast<size_t>(n);
  }

  Bytes bytes_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_source_mgr source_{};
  std::jmp_buf jump_;
  char message_[JMSG_LENGTH_MAX] = {};
  bool damaged_ = false;
  bool ran_out_ = false;
};

bool Jpeg::read_header() {
  if (setjmp(jump_) != 0) return false;
  jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
  jpeg_read_header(&info_, TRUE);
  return true;
}

bool Jpeg::start(int shrink, J_COLOR_SPACE colours) {
  if (setjmp(jump_) != 0) return false;
  info_.scale_num = 1;
  info_.scale_denom = static_cast<unsigned>(shrink);
  info_.out_color_space = colours;
  info_.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info_);
  return true;
}

bool Jpeg::select(const PixelBox& box, JDIMENSION& left, JDIMENSION& width) {
  if (setjmp(jump_) != 0) return false;
  left = static_cast<JDIMENSION>(box.left);
  width = static_cast<JDIMENSION>(box.width);
  if (width < info_.output_width) jpeg_crop_scanline(&info_, &left, &width);
  return true;
}

bool Jpeg::skip_rows(JDIMENSION n) {
  if (setjmp(jump_) != 0) return false;
  return n == 0 || jpeg_skip_scanlines(&info_, n) == n;
}

bool Jpeg::read_rows(uint8_t* to, size_t row_bytes, JDIMENSION n) {
  if (setjmp(jump_) != 0) return false;
  constexpr JDIMENSION kRows = 16;
  JSAMPROW rows[kRows];
  for (JDIMENSION done = 0; done < n;) {
    const JDIMENSION left = std::min(kRows, n - done);
    for (JDIMENSION i = 0; i < left; ++i) rows[i] = to + (done + i) * row_bytes;
    done += jpeg_read_scanlines(&info_, rows, left);
  }
  return true;
}

bool Jpeg::finish() {
  if (setjmp(jump_) != 0) return false;
  jpeg_finish_decompress(&info_);
  return true;
}

int Jpeg::orientation() const {
  for (jpeg_saved_marker_ptr marker = info_.marker_list; marker; marker = marker->next) {
    const int orientation = exif_orientation(
        Bytes(reinterpret_cast<const std::byte*>(marker->data), marker->data_length));
    if (orientation != 1) return orientation;
  }
  return 1;
}

[[noreturn]] void fail_jpeg(const Jpeg& jpeg, const std::string& name) {
  fail_io("jpeg: {}; {}",
          jpeg.ran_out() ? "the image ends early" : "the image is damaged or of an unknown kind",
          jpeg.message()[0] != 0 ? fmt::format("{}: {}", name, jpeg.message()) : name);
}

// An end marker near the end, padding aside.
bool ends_with_marker(Bytes bytes) {
  constexpr size_t kPadding = 64;
  const std::string_view tail = as_text(bytes.last(std::min(bytes.size(), kPadding)));
  return tail.find("\xff\xd9") != std::string_view::npos;
}

// From ink, 255 being none, to light.
void cmyk_to_rgb(Pixels& pixels) {
  const auto count = static_cast<size_t>(pixels.height * pixels.width);
  const uint8_t* from = pixels.values.data();
  uint8_t* to = pixels.values.data();
  for (size_t i = 0; i < count; ++i, from += 4, to += 3) {
    const unsigned black = from[3];
    for (int c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>((from[c] * black + 127) / 255);
  }
  pixels.channels = 3;
  pixels.values.resize(3 * count);
}

}  // namespace

ImageSize jpeg_size(Bytes bytes, const std::string& name) {
  Jpeg jpeg(bytes);
  if (!jpeg.read_header()) fail_jpeg(jpeg, name);
  return {jpeg.info().image_height, jpeg.info().image_width, jpeg.orientation()};
}

ImagePart decode_jpeg(Bytes bytes, const PixelBox& box, int shrink, int channels,
                      const std::string& name) {
  Jpeg jpeg(bytes);
  if (!jpeg.read_header()) fail_jpeg(jpeg, name);
  const J_COLOR_SPACE kind = jpeg.info().jpeg_color_space;
  const bool is_cmyk = kind == JCS_CMYK || kind == JCS_YCCK;
  const J_COLOR_SPACE colours = is_cmyk ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  if (!jpeg.start(shrink, colours)) fail_jpeg(jpeg, name);
  const auto& info = jpeg.info();
  // A file without its end is read as a whole, to see whether more is missing.
  const bool has_end = ends_with_marker(bytes);
  const int64_t last = has_end ? box.top + box.height : int64_t{info.output_height};
  ImagePart part;
  PixelBox wide = box;
  // The library leaves out neighbours at the sides of what it is asked for when it blends colours:
  // what is kept must lie inside of it.
  const int64_t margin = 2 * info.max_h_samp_factor;
  wide.left = std::max<int64_t>(0, box.left - margin);
  wide.width = std::min<int64_t>(info.output_width, box.left + box.width + margin) - wide.left;
  JDIMENSION left;
  JDIMENSION width;
  if (!jpeg.select(wide, left, width)) fail_jpeg(jpeg, name);
  part.top = box.top;
  part.left = left;
  part.pixels.resize(last - box.top, width, info.output_components);
  if (!jpeg.skip_rows(static_cast<JDIMENSION>(box.top)) ||
      !jpeg.read_rows(part.pixels.values.data(),
                      static_cast<size_t>(width) * static_cast<size_t>(info.output_components),
                      static_cast<JDIMENSION>(last - box.top)) ||
      jpeg.is_damaged() || (last == info.output_height && !jpeg.finish()) || jpeg.is_damaged()) {
    fail_jpeg(jpeg, name);
  }
  if (jpeg.ran_out()) part.warning = fmt::format("jpeg: the end marker is missing; {}", name);
  if (is_cmyk) cmyk_to_rgb(part.pixels);
  if (is_cmyk && channels == 1) make_grey(part.pixels);
  return part;
}

}  // namespace thalweg::data
