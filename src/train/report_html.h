#pragma once

// The report's building blocks of HTML. Every text that is not ours goes through escape().

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/markup.h"

namespace thalweg::train {

/// "test_accuracy" as "Test accuracy", escaped.
std::string label(std::string_view name);

/// A measured number with four decimals, or four digits if it is very small or large; "-" if NaN.
std::string number(double value);

/// 50240 as "50,240".
std::string count(int64_t value);

/// 0.1234 as "12.3 %".
std::string percent(double share);

/// A page's section with a heading; nothing if `body` is empty.
std::string section(std::string_view id, std::string_view title, std::string_view body);

/// The template with each {{name}} replaced by its value. What was put in is not searched again.
/// Throws Error internal on a name without a value.
std::string fill_template(
    std::string_view page,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values);

}  // namespace thalweg::train
