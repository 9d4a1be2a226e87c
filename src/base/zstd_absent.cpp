#include "base/fail.h"
#include "base/zstd_reader.h"

namespace thalweg {

std::unique_ptr<Reader> make_zstd_reader(std::unique_ptr<Reader> packed) {
  fail(ErrorKind::unavailable,
       "unzstd: Thalweg was built without zstd; {}; install libzstd-dev and build again, or unpack "
       "the "
       "file",
       packed->name());
}

}  // namespace thalweg
