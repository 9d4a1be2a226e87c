#include "model/safetensors_json.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "model/safetensors_header.h"

namespace thalweg::model {
namespace {

using Json = nlohmann::json;

// Takes the parser's events. No tree is built, so a hostile header costs no more memory than its
// own text.
class HeaderHandler final : public nlohmann::json_sax<Json> {
 public:
  HeaderHandler(const std::string& path, RawHeader& header) : path_(path), header_(header) {}

  bool key(string_t& text) override {
    if (level_ == Level::root) {
      if (!names_.insert(text).second) fail_form("a name once", "it a second time", text);
      name_ = text;
      field_.clear();
      return true;
    }
    field_ = text;
    if (level_ == Level::metadata) {
      if (header_.metadata.count(field_)) fail_form("a key once", "it a second time", field_);
    } else if (field_ != "dtype" && field_ != "shape" && field_ != "data_offsets") {
      fail_form("dtype, shape and data_offsets", fmt::format("'{}'", field_), name_);
    }
    return true;
  }

  bool start_object(size_t) override {
    if (level_ == Level::file) {
      level_ = Level::root;
    } else if (level_ == Level::root) {
      level_ = name_ == kMetadataKey ? Level::metadata : Level::tensor;
      if (level_ == Level::tensor) header_.entries.push_back({name_, {}, {}, {}});
    } else {
      fail_value("an object");
    }
    return true;
  }

  bool end_object() override {
    level_ = level_ == Level::root ? Level::file : Level::root;
    return true;
  }

  bool start_array(size_t) override {
    if (level_ != Level::tensor || field_ == "dtype") fail_value("an array");
    std::optional<std::vector<uint64_t>>& list = list_of_field();
    if (list) fail_form("a field once", "it a second time", name_ + "." + field_);
    list.emplace();
    level_ = Level::list;
    return true;
  }

  bool end_array() override {
    level_ = Level::tensor;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (level_ != Level::list) fail_value(std::to_string(value));
    list_of_field()->push_back(value);
    return true;
  }

  bool string(string_t& text) override {
    if (level_ == Level::metadata) {
      header_.metadata.emplace(field_, text);
    } else if (level_ == Level::tensor && field_ == "dtype") {
      std::optional<std::string>& dtype = header_.entries.back().dtype;
      if (dtype) fail_form("a field once", "it a second time", name_ + "." + field_);
      dtype = text;
    } else {
      fail_value(fmt::format("'{}'", text));
    }
    return true;
  }

  bool null() override { fail_value("null"); }
  bool boolean(bool value) override { fail_value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { fail_value(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { fail_value(text); }
  bool binary(binary_t&) override { fail_value("binary data"); }

  bool parse_error(size_t position, const std::string& token, const Json::exception&) override {
    constexpr size_t kShown = 40;  // a token goes back to the last one that was understood
    const size_t skipped = token.size() - std::min(token.size(), kShown);
    fail_io("safetensors: header is not JSON; {} at byte {}: unexpected '{}'", path_,
            position + sizeof(uint64_t), std::string_view(token).substr(skipped));
  }

 private:
  enum class Level { file, root, metadata, tensor, list };

  std::optional<std::vector<uint64_t>>& list_of_field() {
    RawEntry& entry = header_.entries.back();
    return field_ == "shape" ? entry.shape : entry.offsets;
  }

  [[noreturn]] void fail_form(std::string_view expected, std::string_view found,
                              std::string_view where) const {
    fail_io("safetensors: header is not of the format's form; {}, '{}': expected {}, found {}",
            path_, where, expected, found);
  }

  [[noreturn]] void fail_value(const std::string& found) const {
    const char* expected = level_ == Level::file       ? "an object"
                           : level_ == Level::root     ? "an object"
                           : level_ == Level::metadata ? "a text"
                           : field_ == "dtype"         ? "a text"
                           : level_ == Level::list     ? "an integer from 0 to 2^64 - 1"
                                                       : "an array of integers";
    fail_form(expected, found, field_.empty() ? name_ : name_ + "." + field_);
  }

  const std::string& path_;
  RawHeader& header_;
  std::set<std::string> names_;
  Level level_ = Level::file;
  std::string name_, field_;
};

}  // namespace

RawHeader parse_safetensors_json(std::string_view text, const std::string& path) {
  RawHeader header;
  HeaderHandler handler(path, header);
  Json::sax_parse(text.begin(), text.end(), &handler);
  return header;
}

}  // namespace thalweg::model
