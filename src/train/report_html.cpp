#include "train/report_html.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/fail.h"

namespace thalweg::train {
std::string label(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  if (!text.empty() && static_cast<unsigned char>(text[0]) < 0x80)
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return escape(text);
}

std::string number(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (size != 0 && (size < 0.001 || size >= 100000)) return fmt::format("{:.4g}", value);
  return fmt::format("{:.4f}", value);
}

std::string count(int64_t value) {
  std::string digits = fmt::format("{}", value);
  const int64_t sign = value < 0 ? 1 : 0;
  for (auto at = static_cast<int64_t>(digits.size()) - 3; at > sign; at -= 3)
    digits.insert(static_cast<size_t>(at), 1, ',');
  return digits;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string section(std::string_view id, std::string_view title, std::string_view body) {
  if (body.empty()) return {};
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n"
      "{2}</section>\n",
      id, title, body);
}

std::string fill_template(
    std::string_view page,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  for (;;) {
    const size_t open = page.find("{{");
    out.append(page.substr(0, open));
    if (open == page.npos) return out;
    const size_t close = page.find("}}", open);
    THALWEG_ASSERT(close != page.npos);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    THALWEG_ASSERT(value != values.end());
    out.append(value->second);
    page.remove_prefix(close + 2);
  }
}

}  // namespace thalweg::train
