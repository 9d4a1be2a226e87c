#include <csignal>
#include <optional>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thalweg/base/signal.h>

namespace thalweg {
namespace {

// The status of a child process that runs `action`, which ends with _exit.
template <typename Action>
int status_of_child(Action action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(99);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(StopRequest, TheFirstSignalOnlyAsks) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = status_of_child([signal] {
      StopRequest stop;
      if (stop || stop.signal() != 0) _exit(1);
      raise(signal);
      _exit(stop && stop.signal() == signal ? 0 : 2);
    });
    EXPECT_EQ(status, 0);
  }
}

TEST(StopRequest, TheSecondSignalEndsTheProgramWhicheverItIs) {
  const int status = status_of_child([] {
    StopRequest stop;
    raise(SIGINT);
    raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(StopRequest, ATerminalThatClosesMayHangUpMoreThanOnce) {
  const int status = status_of_child([] {
    {
      StopRequest stop;
      raise(SIGHUP);
      raise(SIGHUP);
      if (stop.signal() != SIGHUP) _exit(1);
    }
    raise(SIGHUP);  // as before
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGHUP);
}

TEST(StopRequest, AHangUpAfterAnotherSignalDoesNotEndTheProgramAndIsNotTheReason) {
  const int status = status_of_child([] {
    StopRequest stop;
    raise(SIGINT);
    raise(SIGHUP);
    _exit(stop.signal() == SIGINT ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST(StopRequest, AHangUpThatIsIgnoredStaysIgnored) {
  const int status = status_of_child([] {
    std::signal(SIGHUP, SIG_IGN);  // as nohup does
    StopRequest stop;
    raise(SIGHUP);
    _exit(stop ? 1 : 0);
  });
  EXPECT_EQ(status, 0);
}

TEST(StopRequest, GivesBackTheFormerHandlers) {
  const int status = status_of_child([] {
    std::signal(SIGINT, SIG_IGN);
    { StopRequest stop; }
    raise(SIGINT);  // ignored again
    {
      StopRequest stop;
      raise(SIGINT);
      if (!stop) _exit(1);
    }
    raise(SIGINT);
    StopRequest stop;
    _exit(stop ? 2 : 0);  // an old request is not a new one
  });
  EXPECT_EQ(status, 0);
}

TEST(StopRequest, SeveralSeeTheSameRequestUntilTheLastIsGone) {
  const int status = status_of_child([] {
    std::optional<StopRequest> first(std::in_place);
    StopRequest second;
    first.reset();
    raise(SIGTERM);
    StopRequest third;
    _exit(second && third ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace thalweg
