#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/log_format.h"

namespace thalweg {
namespace {

class Log : public testing::Test, public LogSink {
 protected:
  Log() : sink_before_(set_log_sink(this)) {}
  ~Log() override {
    set_log_sink(sink_before_);
    set_verbosity(level_before_);
  }

  void write(LogLevel level, std::string_view text) noexcept override {
    lines_.emplace_back(level, text);
  }

  std::vector<std::pair<LogLevel, std::string>> lines_;

 private:
  LogSink* sink_before_;
  int level_before_ = verbosity();
};

TEST_F(Log, ShowsWarningsAlwaysAndTheRestByVerbosity) {
  for (int level : {0, 1, 2}) {
    set_verbosity(level);
    log_warn("w{}", level);
    log_info("i{}", level);
    log_verbose("v{}", level);
  }
  const std::vector<std::pair<LogLevel, std::string>> expected{
      {LogLevel::warn, "w0"}, {LogLevel::warn, "w1"}, {LogLevel::info, "i1"},
      {LogLevel::warn, "w2"}, {LogLevel::info, "i2"}, {LogLevel::verbose, "v2"}};
  EXPECT_EQ(lines_, expected);
}

TEST_F(Log, WarnsOncePerKey) {
  warn_once("log_test.a", "first");
  warn_once("log_test.a", "second");
  warn_once("log_test.b", "third");
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[0].second, "first");
  EXPECT_EQ(lines_[1].second, "third");
}

TEST_F(Log, WithoutASinkWritesWholeLinesToStderr) {
  LogSink* mine = set_log_sink(nullptr);
  testing::internal::CaptureStderr();
  set_verbosity(1);
  log(LogLevel::warn, "low disk space");
  log(LogLevel::info, "reading");
  const std::string text = testing::internal::GetCapturedStderr();
  set_log_sink(mine);
  EXPECT_EQ(text, "thalweg: warning: low disk space\nthalweg: reading\n");
}

}  // namespace
}  // namespace thalweg
