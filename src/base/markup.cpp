#include "base/markup.h"

#include <cctype>

#include "base/utf8.h"

namespace thalweg {
namespace {

void append_escaped(std::string& out, std::string_view character) {
  switch (character[0]) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default: {
      const auto byte = static_cast<unsigned char>(character[0]);
      if ((byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t') out += character;
    }
  }
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    append_escaped(out, point.is_valid ? text.substr(0, point.bytes) : "\xEF\xBF\xBD");
    text.remove_prefix(point.bytes);
  }
  return out;
}

std::string slug(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x80 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return out;
}

}  // namespace thalweg
