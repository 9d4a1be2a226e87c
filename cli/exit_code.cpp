#include "cli/exit_code.h"

namespace thalweg::cli {

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

std::string exit_code_help() {
  return "Exit codes:\n"
         "  0    done\n"
         "  1    an error in Thalweg itself; please report it\n"
         "  2    the command, a recipe or a shape is wrong\n"
         "  3    a file, folder or disk cannot be read or written, or what a file holds is wrong\n"
         "  4    a device, data set or memory that is needed is not there\n"
         "  130  stopped by Ctrl-C; 143 by SIGTERM (128 and the signal's number)\n";
}

}  // namespace thalweg::cli
