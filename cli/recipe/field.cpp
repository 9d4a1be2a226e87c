#include "cli/recipe/field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace thalweg::cli {
namespace {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}
std::string text_of(const std::string& value) { return quoted(value); }
std::string text_of(const ByteSize& value) { return std::to_string(value.bytes); }
template <typename T>
std::string text_of(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(text_of(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

}  // namespace

std::string_view type_of(const Field& field) {
  return std::visit(
      Overloaded{[](const bool*) { return "true or false"; },
                 [](const int64_t*) { return "integer"; }, [](const double*) { return "number"; },
                 [](const std::string*) { return "text"; },
                 [](const ByteSize*) { return "size in bytes"; },
                 [](const std::vector<int64_t>*) { return "integer or list of integers"; },
                 [](const std::vector<double>*) { return "number or list of numbers"; },
                 [](const std::vector<std::string>*) { return "text or list of texts"; }},
      field.target);
}

std::string value_text(const Field& field) {
  return std::visit([](const auto* value) { return text_of(*value); }, field.target);
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += c;
    }
  }
  return result + '"';
}

}  // namespace thalweg::cli
