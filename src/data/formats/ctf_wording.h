#pragma once

#include <cstdint>
#include <string>

#include <thalweg/tensor/dtype.h>

namespace thalweg::data {

/// What is wrong in a row: "expected EXPECTED, found FOUND; HINT".
struct CtfWording {
  const char* at;  // where
  std::string text;
};

/// What stands at `at`, as one word in quotes.
std::string ctf_found(const char* at);

/// Of a dense sample in which the number at `token` cannot be read, goes on after its end, or is
/// missing; `values` numbers were read before, and reading got as far as `at`.
CtfWording dense_wording(const char* at, const char* token, size_t values, int64_t dim,
                         DType dtype);

/// Of a sparse sample whose pair at `token` cannot be read.
CtfWording sparse_wording(const char* token, DType dtype);

}  // namespace thalweg::data
