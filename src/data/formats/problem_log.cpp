#include "data/formats/problem_log.h"

#include <algorithm>

#include "base/fail.h"
#include "base/log_format.h"

namespace thalweg::data {
namespace {

constexpr size_t kMaxMessages = 20;
constexpr size_t kMaxPlaces = 1 << 20;  // beyond, a warning may be counted again

}  // namespace

void append(ReadProblems& all, const ReadProblems& more) {
  all.errors += more.errors;
  all.warnings += more.warnings;
  const size_t room = kMaxMessages - std::min(kMaxMessages, all.messages.size());
  const auto end = more.messages.begin() + std::min(room, more.messages.size());
  all.messages.insert(all.messages.end(), more.messages.begin(), end);
}

void ProblemLog::note(const std::string& message) {
  if (problems_.messages.size() < kMaxMessages) problems_.messages.push_back(message);
}

void ProblemLog::drop(uint64_t place, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (bad_.contains(place)) return;
  if (static_cast<int64_t>(bad_.size()) >= max_errors_) {
    if (max_errors_ == 0) fail_io("{}", message);
    fail_io("{}; {} bad records were dropped before, and max_errors allows {}", message,
            bad_.size(), max_errors_);
  }
  bad_.insert(place);
  ++problems_.errors;
  note(message);
  if (problems_.errors <= static_cast<int64_t>(kMaxMessages))
    log_warn("{}; the record is dropped", message);
}

void ProblemLog::warn(uint64_t place, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (odd_.contains(place)) return;
  if (odd_.size() < kMaxPlaces) odd_.insert(place);
  ++problems_.warnings;
  note(message);
  if (problems_.warnings <= static_cast<int64_t>(kMaxMessages)) log_warn("{}", message);
}

ReadProblems ProblemLog::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

}  // namespace thalweg::data
