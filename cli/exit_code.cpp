#include "cli/exit_code.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <system_error>

#include <fmt/format.h>

namespace thalweg::cli {
namespace {

// One line, whatever the user's words in it hold.
int report(ErrorKind kind, std::string message) {
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  fmt::print(stderr, "thalweg: {}\n", message);
  return exit_code(kind);
}

}  // namespace

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
      return kExitInvalid;
    case ErrorKind::io:
      return kExitIo;
    case ErrorKind::unavailable:
      return kExitUnavailable;
    case ErrorKind::internal:
      return kExitInternal;
  }
  return kExitInternal;
}

int report_error() {
  try {
    throw;
  } catch (const Error& error) {
    return report(error.kind(), error.what());
  } catch (const std::system_error& error) {  // of printing, folders, threads
    if (error.code() == std::errc::broken_pipe) return kExitOk;
    return report(ErrorKind::io, fmt::format("system: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::unavailable, "memory: there is not enough; smaller batches need less");
  } catch (const std::exception& error) {
    return report(ErrorKind::internal,
                  fmt::format("internal: {}; please report this", error.what()));
  }
}

int worse_of(int code, int other) {
  if (code == kExitInternal || other == kExitInternal) return kExitInternal;
  return std::max(code, other);
}

std::string exit_code_help() {
  return "Exit codes:\n"
         "  0    done\n"
         "  1    an error in Thalweg itself; please report it\n"
         "  2    the command, a recipe or a shape is wrong\n"
         "  3    a file, folder or disk cannot be read or written, or what a file holds is wrong\n"
         "  4    a device, data set or memory that is needed is not there\n"
         "  130  stopped by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP (128 and the signal's number)\n";
}

}  // namespace thalweg::cli
