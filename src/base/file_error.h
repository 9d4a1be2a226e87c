#pragma once

#include <string>
#include <string_view>

namespace thalweg {

/// Throws an io Error `operation: reason; path`, with the free space if the reason is a full disk.
/// `error` is errno's value after the call that failed; `path` need not exist.
[[noreturn]] void fail_file(std::string_view operation, const std::string& path, int error);

}  // namespace thalweg
