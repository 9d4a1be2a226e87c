#include "data/formats/paths.h"

#include <cerrno>

#include <glob.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/file_error.h"

namespace thalweg::data {

std::vector<std::string> expand_path(const std::string& path) {
  struct stat status;
  if (path.find_first_of("*?[") == path.npos || ::stat(path.c_str(), &status) == 0) return {path};
  glob_t found;
  const int failure = ::glob(path.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<std::string> paths;
  for (size_t i = 0; failure == 0 && i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (paths.empty()) fail_io("open: no file is like the pattern; {}", path);
  return paths;
}

FileStamp stamp_of(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) fail_file("open", path, errno);
  if (S_ISDIR(status.st_mode)) fail_io("open: this is a folder, not a file; {}", path);
  return {static_cast<uint64_t>(status.st_size),
          int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

}  // namespace thalweg::data
