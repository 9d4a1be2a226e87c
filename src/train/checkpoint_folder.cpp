#include <algorithm>
#include <charconv>
#include <filesystem>

#include <thalweg/base/log.h>
#include <thalweg/train/checkpoint.h>

#include "base/fail.h"

namespace thalweg::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors";

// The step of "step-00000938.safetensors"; -1 for other names.
int64_t step_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return -1;
  const char* first = name.data() + kPrefix.size();
  const char* last = name.data() + name.size() - kSuffix.size();
  int64_t step = -1;
  const auto [end, error] = std::from_chars(first, last, step);
  return error == std::errc() && end == last && first != last ? step : -1;
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string folder, CheckpointFolderOptions options)
    : folder_(std::move(folder)), options_(options) {
  if (options.keep_last < 0)
    fail_invalid("checkpoints: keep_last is {}; it must not be negative", options.keep_last);
}

std::string CheckpointFolder::path_of(int64_t step) const {
  return fmt::format("{}/{}{:08}{}", folder_, kPrefix, step, kSuffix);
}

std::vector<int64_t> CheckpointFolder::steps() const {
  std::vector<int64_t> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const int64_t step = step_of(entry.path().filename().string());
    if (step >= 0) found.push_back(step);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string CheckpointFolder::write(int64_t step, const Checkpoint& checkpoint) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  const std::string path = path_of(step);
  checkpoint.write(path);
  // What lies beyond this step is not older; it stays until it is written again.
  std::vector<int64_t> older = steps();
  std::erase_if(older, [&](int64_t s) { return s >= step; });
  const auto keep = static_cast<size_t>(std::max<int64_t>(options_.keep_last - 1, 0));
  if (options_.keep_last == 0 || older.size() <= keep) return path;
  older.resize(older.size() - keep);
  for (const int64_t s : older) {
    if (!fs::remove(path_of(s), error) && error)
      log(LogLevel::warn,
          fmt::format("checkpoints: cannot remove {}; {}", path_of(s), error.message()));
  }
  return path;
}

std::string CheckpointFolder::write_best(const Checkpoint& checkpoint) const {
  checkpoint.write(best_path());
  return best_path();
}

Checkpoint CheckpointFolder::newest() const {
  std::vector<int64_t> all = steps();
  std::string reasons;
  for (auto step = all.rbegin(); step != all.rend(); ++step) {
    try {
      Checkpoint checkpoint = Checkpoint::read(path_of(*step));
      if (!reasons.empty())
        log(LogLevel::warn,
            fmt::format("checkpoints: going on from {}, an older one", path_of(*step)));
      return checkpoint;
    } catch (const Error& error) {
      log(LogLevel::warn, error.what());
      reasons += fmt::format("; {}", error.what());
    }
  }
  fail_io("checkpoints: none in {} can be used{}", folder_,
          all.empty() ? "; there is none" : reasons);
}

}  // namespace thalweg::train
