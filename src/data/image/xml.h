#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::data {

/// A file that OpenCV wrote, as CNTK reads them: elements none of which holds another one of the
/// same name.
class OpenCvXml {
 public:
  /// Throws Error{io} for a file that cannot be read. `what` begins all errors.
  OpenCvXml(const char* what, const std::string& path);

  /// A whole number from 1 to 2^20.
  int64_t size(std::string_view name) const;
  /// The numbers of the matrix that is called so.
  std::vector<float> matrix(std::string_view name) const;

  const std::string& path() const { return path_; }

 private:
  std::string_view element(std::string_view xml, std::string_view name) const;

  const char* what_;
  std::string path_;
  std::string text_;
};

}  // namespace thalweg::data
