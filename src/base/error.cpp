#include <thalweg/base/error.h>

namespace thalweg {

const char* name(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::invalid:
      return "invalid";
    case ErrorKind::io:
      return "io";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

void Error::set_place(std::string_view place) {
  if (has_place_) return;
  has_place_ = true;
  message_.append(", in ").append(place);
}

}  // namespace thalweg
