#include "base/fail.h"
#include "data/formats/numbers.h"
#include "data/image/image_store.h"

namespace thalweg::data {

int64_t parse_label(std::string_view text, int64_t classes, const std::string& where) {
  int64_t label = 0;
  const NumberFault fault = parse_number(text, DType::i64, reinterpret_cast<std::byte*>(&label));
  if (fault != NumberFault::none) {
    fail_io("image: the label is {}; {}: expected a class, found '{}'", describe(fault, DType::i64),
            where, shortened(text));
  }
  if (classes > 0 && (label < 0 || label >= classes)) {
    fail_io("image: the label is out of range; {}: expected 0 to {}, found {}", where, classes - 1,
            label);
  }
  return label;
}

}  // namespace thalweg::data
