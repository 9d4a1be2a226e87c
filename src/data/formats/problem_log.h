#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// Adds the problems of a further part of a corpus.
void append(ReadProblems& all, const ReadProblems& more);

/// Bad records of one corpus, each counted once however often it is read, and how many are allowed.
/// Any thread may call any function.
class ProblemLog {
 public:
  explicit ProblemLog(int64_t max_errors) : max_errors_(max_errors) {}

  /// A record, known by its place, is bad and will be dropped. Throws Error{io} with `message`,
  /// which says where and why, when that is one more than is allowed.
  void drop(uint64_t place, const std::string& message);

  /// Something at this place is odd, but good enough to be used.
  void warn(uint64_t place, const std::string& message);

  ReadProblems problems() const;

 private:
  void note(const std::string& message);

  const int64_t max_errors_;
  mutable std::mutex mutex_;
  std::set<uint64_t> bad_;
  std::set<uint64_t> odd_;
  ReadProblems problems_;
};

}  // namespace thalweg::data
