#include "base/file_error.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <thalweg/base/text.h>

#include "base/fail.h"

namespace thalweg {
namespace {

std::string hint(const std::string& path, int error) {
  if (error == ENOSPC) {
    std::error_code unknown;
    const std::filesystem::path folder = std::filesystem::absolute(path, unknown).parent_path();
    const auto space = std::filesystem::space(folder, unknown);
    if (!unknown)
      return fmt::format("; {} free in {}", format_bytes(space.available), folder.string());
  }
  if (error == EFBIG) return "; the limit on a file's size is reached (ulimit -f)";
  return "";
}

}  // namespace

void fail_file(std::string_view operation, const std::string& path, int error) {
  fail_io("{}: {}; {}{}", operation, std::generic_category().message(error), path,
          hint(path, error));
}

}  // namespace thalweg
