#include "data/image/png.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include <png.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

// libpng's state. Its errors jump: functions that call it hold nothing with a destructor.
class Png {
 public:
  explicit Png(Bytes bytes) : unread_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error,
                                  [](png_structp, png_const_charp) {});
    if (png_ == nullptr) throw std::bad_alloc();
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png_, this, on_read);
  }
  ~Png() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t width() const { return png_get_image_width(png_, info_); }
  const char* message() const { return message_; }

  // All of these return false after an error.
  bool read_header();
  bool start(bool colour, int& channels);
  bool read_rows(uint8_t* to, size_t row_bytes);

  bool is_colour() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) != 0; }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    Png& self = *static_cast<Png*>(png_get_error_ptr(png));
    std::strncpy(self.message_, message, sizeof(self.message_) - 1);
    std::longjmp(self.jump_, 1);
  }
  static void on_read(png_structp png, png_bytep to, size_t n) {
    Png& self = *static_cast<Png*>(png_get_io_ptr(png));
    if (n > self.unread_.size()) png_error(png, "the file ends early");
    std::memcpy(to, self.unread_.data(), n);
    self.unread_ = self.unread_.subspan(n);
  }

  Bytes unread_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::jmp_buf jump_;
  char message_[128] = {};
};

bool Png::read_header() {
  if (setjmp(jump_) != 0) return false;
  png_read_info(png_, info_);
  return true;
}

bool Png::start(bool colour, int& channels) {
  if (setjmp(jump_) != 0) return false;
  png_set_expand(png_);
  png_set_scale_16(png_);
  png_set_strip_alpha(png_);
  if (colour) png_set_gray_to_rgb(png_);
  passes_ = png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  channels = png_get_channels(png_, info_);
  return true;
}

bool Png::read_rows(uint8_t* to, size_t row_bytes) {
  if (setjmp(jump_) != 0) return false;
  const auto rows = static_cast<size_t>(height());
  for (int pass = 0; pass < passes_; ++pass)
    for (size_t y = 0; y < rows; ++y) png_read_row(png_, to + y * row_bytes, nullptr);
  png_read_end(png_, nullptr);
  return true;
}

[[noreturn]] void fail_png(const Png& png, const std::string& name) {
  fail_io("png: the image is damaged; {}: {}", name, png.message());
}

}  // namespace

ImageSize png_size(Bytes bytes, const std::string& name) {
  Png png(bytes);
  if (!png.read_header()) fail_png(png, name);
  return {png.height(), png.width(), 1};
}

Pixels decode_png(Bytes bytes, int channels, const std::string& name) {
  Png png(bytes);
  int found = 0;
  if (!png.read_header() || !png.start(channels == 3, found)) fail_png(png, name);
  Pixels pixels;
  pixels.resize(png.height(), png.width(), found);
  if (!png.read_rows(pixels.values.data(), static_cast<size_t>(pixels.width * found)))
    fail_png(png, name);
  if (channels == 1 && found == 3) make_grey(pixels);
  return pixels;
}

}  // namespace thalweg::data
