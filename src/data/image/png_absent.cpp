#include "base/fail.h"
#include "data/image/png.h"

namespace thalweg::data {
namespace {

[[noreturn]] void fail_absent(const std::string& name) {
  fail(ErrorKind::unavailable,
       "png: Thalweg was built without libpng; {}; install libpng-dev and build again", name);
}

}  // namespace

ImageSize png_size(Bytes, const std::string& name) { fail_absent(name); }

Pixels decode_png(Bytes, int, const std::string& name) { fail_absent(name); }

}  // namespace thalweg::data
