#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <thalweg/base/export.h>

namespace thalweg {

/// Who has to act on an error: the caller (invalid), whoever keeps the files and disks (io),
/// whoever sets up the machine (unavailable), or the authors of Thalweg (internal).
enum class ErrorKind { invalid, io, unavailable, internal };

/// "invalid", "io", "unavailable" or "internal".
THALWEG_API const char* name(ErrorKind kind) noexcept;

/// The one exception type of Thalweg. what() reads `operation: what is wrong; values; hint`.
class THALWEG_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }

  /// Appends where the error happened, e.g. "mlp.2 (Dense)", as `, in mlp.2 (Dense)`. Only the
  /// first call has an effect: the innermost place is the one that helps.
  void set_place(std::string_view place);

 private:
  ErrorKind kind_;
  bool has_place_ = false;
  std::string message_;
};

}  // namespace thalweg
