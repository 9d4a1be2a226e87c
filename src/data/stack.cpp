#include "data/stack.h"

#include <cstring>
#include <exception>

#include "base/fail.h"
#include "data/rows.h"

namespace thalweg::data {

void call_for_sample(const char* operation, const SampleKey& sample,
                     const std::function<void()>& function) {
  const std::string place = fmt::format("sample {} of epoch {}", sample.index, sample.epoch);
  try {
    function();
  } catch (Error& error) {
    error.set_place(place);
    throw;
  } catch (const std::exception& other) {
    Error error(ErrorKind::invalid, fmt::format("{}: {}", operation, other.what()));
    error.set_place(place);
    std::throw_with_nested(std::move(error));
  }
}

void put_row(const char* operation, const Tensor& value, const Tensor& rows, size_t i) {
  const Tensor row = row_of(rows, static_cast<int64_t>(i));
  if (!value.defined() || value.dtype() != row.dtype() || value.shape() != row.shape()) {
    fail_invalid("{}: the samples' values differ: the first is {} {}, this one {}", operation,
                 name(row.dtype()), to_string(row.shape()),
                 value.defined()
                     ? fmt::format("{} {}", name(value.dtype()), to_string(value.shape()))
                     : "undefined");
  }
  const Tensor host = row_major_on_host(operation, value);
  std::memcpy(row.impl()->data, host.impl()->data,
              static_cast<size_t>(row.size()) * item_size(row.dtype()));
}

}  // namespace thalweg::data
