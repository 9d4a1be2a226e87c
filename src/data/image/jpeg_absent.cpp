#include "base/fail.h"
#include "data/image/jpeg.h"

namespace thalweg::data {
namespace {

[[noreturn]] void fail_absent(const std::string& name) {
  fail(ErrorKind::unavailable,
       "jpeg: Thalweg was built without libjpeg; {}; install libjpeg62-turbo-dev and build again",
       name);
}

}  // namespace

ImageSize jpeg_size(Bytes, const std::string& name) { fail_absent(name); }

ImagePart decode_jpeg(Bytes, const PixelBox&, int, int, const std::string& name) {
  fail_absent(name);
}

}  // namespace thalweg::data
