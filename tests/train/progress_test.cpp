#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <thalweg/base/log.h>
#include <thalweg/train/progress.h>

namespace thalweg::train {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Everything that can be read from `fd` without waiting.
std::string drain(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  return text;
}

// A terminal that the test holds the other end of.
class ProgressOnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    screen_ = posix_openpt(O_RDWR | O_NOCTTY);
    ASSERT_GE(screen_, 0);
    ASSERT_EQ(grantpt(screen_), 0);
    ASSERT_EQ(unlockpt(screen_), 0);
    terminal_ = open(ptsname(screen_), O_RDWR | O_NOCTTY);
    ASSERT_GE(terminal_, 0);
    set_width(90);
  }

  void TearDown() override {
    if (terminal_ >= 0) close(terminal_);
    if (screen_ >= 0) close(screen_);
  }

  void set_width(unsigned short columns) {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(ioctl(screen_, TIOCSWINSZ, &size), 0);
  }

  ProgressOptions every_step() const { return {.fd = terminal_, .terminal_interval = 0}; }

  int screen_ = -1;
  int terminal_ = -1;
};

ProgressState at_step(int64_t step) {
  return {.epoch = 1, .epochs = 2, .step = step, .steps = 100, .loss = 0.5, .accuracy = 0.75};
}

TEST_F(ProgressOnATerminal, RedrawsOneLineInPlace) {
  Progress progress(every_step());
  progress.update(at_step(10));
  progress.update(at_step(11));
  const std::string text = drain(screen_);
  EXPECT_THAT(text, StartsWith("\r\x1b[2Kepoch 1/2"));
  EXPECT_THAT(text, HasSubstr(" 11/100  loss 0.5000  acc 0.7500"));
  EXPECT_THAT(text, HasSubstr("━"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
}

TEST_F(ProgressOnATerminal, DrawsTenTimesASecondAtMost) {
  Progress progress({.fd = terminal_});
  for (int step = 1; step <= 1000; ++step) progress.update(at_step(1));
  EXPECT_LT(drain(screen_).size(), 5 * 200U);
}

TEST_F(ProgressOnATerminal, FollowsTheWidthOfTheWindow) {
  Progress progress(every_step());
  progress.update(at_step(50));
  EXPECT_THAT(drain(screen_), HasSubstr("━"));
  set_width(36);
  progress.update(at_step(2));
  EXPECT_EQ(drain(screen_), "\r\x1b[2Kepoch 1/2    2/100  loss 0.5000");
}

TEST_F(ProgressOnATerminal, UsesNoColourIfNO_COLORIsSet) {
  setenv("NO_COLOR", "1", 1);
  Progress progress(every_step());
  progress.update(at_step(1));
  EXPECT_THAT(drain(screen_), Not(HasSubstr("\x1b[36m")));
}

TEST_F(ProgressOnATerminal, UsesAsciiOutsideUtf8) {
  setenv("LC_ALL", "C", 1);
  Progress progress(every_step());
  progress.update(at_step(50));
  const std::string text = drain(screen_);
  EXPECT_THAT(text, HasSubstr("##"));
  EXPECT_THAT(text, Not(HasSubstr("━")));
}

TEST_F(ProgressOnATerminal, PrintsALineAboveTheBarAndDrawsItAgain) {
  Progress progress({.fd = terminal_});
  progress.update(at_step(1));
  drain(screen_);
  progress.print("epoch 1/2  test accuracy 0.8");
  progress.update(at_step(2));
  EXPECT_THAT(drain(screen_),
              StartsWith("\r\x1b[2Kepoch 1/2  test accuracy 0.8\r\n\r\x1b[2Kepoch 1/2"));
}

TEST_F(ProgressOnATerminal, KeepsTheLogsLinesApart) {
  testing::internal::CaptureStderr();
  {
    Progress progress(every_step());
    progress.update(at_step(1));
    drain(screen_);
    log(LogLevel::warn, "slow disk");
    EXPECT_EQ(drain(screen_), "\r\x1b[2K");
  }
  log(LogLevel::warn, "afterwards");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "thalweg: warning: slow disk\nthalweg: warning: afterwards\n");
}

TEST_F(ProgressOnATerminal, LeavesAnEmptyLineAtTheEnd) {
  {
    Progress progress(every_step());
    progress.update(at_step(1));
  }
  EXPECT_THAT(drain(screen_), EndsWith("\r\x1b[2K"));
}

TEST_F(ProgressOnATerminal, TreatsADumbTerminalAsAFile) {
  for (const char* term : {"dumb", ""}) {
    setenv("TERM", term, 1);
    Progress progress({.fd = terminal_, .plain_interval = 0});
    progress.update(at_step(1));
    EXPECT_EQ(drain(screen_), "epoch 1/2  step 1/100  loss 0.5000  accuracy 0.7500\r\n") << term;
  }
}

class ProgressInAPipe : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  int ends_[2] = {-1, -1};
};

TEST_F(ProgressInAPipe, WritesNothingBeforeTheInterval) {
  Progress progress({.fd = ends_[1]});
  for (int step = 1; step <= 100; ++step) progress.update(at_step(step));
  progress.finish();
  EXPECT_EQ(drain(ends_[0]), "");
}

TEST_F(ProgressInAPipe, WritesWholePlainLines) {
  Progress progress({.fd = ends_[1], .plain_interval = 0});
  progress.update(at_step(7));
  progress.print("a warning");
  EXPECT_EQ(drain(ends_[0]), "epoch 1/2  step 7/100  loss 0.5000  accuracy 0.7500\na warning\n");
}

}  // namespace
}  // namespace thalweg::train
