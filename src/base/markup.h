#pragma once

// Text that goes into HTML and SVG.

#include <string>
#include <string_view>

namespace thalweg {

/// Text that is safe between tags and in quoted attributes. Bytes that are not UTF-8 become U+FFFD;
/// control characters, which HTML forbids, are dropped.
std::string escape(std::string_view text);

/// A name as part of an element's id: lower case, everything but [a-z0-9] as '-'.
std::string slug(std::string_view name);

}  // namespace thalweg
