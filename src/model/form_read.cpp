#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "model/form_text.h"

namespace thalweg::model {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostValues = size_t{1} << 24;

// A part of the text, and where it is.
class Node {
 public:
  Node(const Json& json, std::string where, const std::string& path)
      : json_(&json), where_(std::move(where)), path_(&path) {}

  [[noreturn]] void fail(std::string_view expected) const { fail(expected, shown()); }
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    fail_io("import_model: {} is damaged; {}: expected {}, found {}", *path_, where_, expected,
            found);
  }

  bool is_null() const { return json_->is_null(); }
  bool is_text() const { return json_->is_string(); }
  const std::string& where() const { return where_; }

  Node at(const char* key) const {
    if (!json_->is_object()) fail("an object");
    const auto found = json_->find(key);
    if (found == json_->end()) child(key, Json()).fail("a value", "none");
    return child(key, *found);
  }
  std::optional<Node> find(const char* key) const {
    if (!json_->is_object()) fail("an object");
    const auto found = json_->find(key);
    if (found == json_->end()) return {};
    return child(key, *found);
  }
  void allow(std::initializer_list<std::string_view> keys) const {
    if (!json_->is_object()) fail("an object");
    for (const auto& [key, value] : json_->items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        fail(fmt::format("{}", fmt::join(keys, ", ")), "'" + key + "'");
    }
  }
  std::vector<Node> list() const {
    if (!json_->is_array()) fail("a list");
    std::vector<Node> nodes;
    for (size_t i = 0; i < json_->size(); ++i)
      nodes.emplace_back((*json_)[i], fmt::format("{}[{}]", where_, i), *path_);
    return nodes;
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json_->items()) keys.push_back(key);
    return keys;
  }
  int64_t integer(int64_t low, int64_t high) const {
    const std::string range = fmt::format("an integer from {} to {}", low, high);
    if (!json_->is_number_integer()) fail(range);
    if (json_->is_number_unsigned() &&
        json_->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      fail(range);
    const auto value = json_->get<int64_t>();
    if (value < low || value > high) fail(range);
    return value;
  }
  uint64_t unsigned_integer() const {
    if (!json_->is_number_unsigned()) fail("an integer from 0 to 2^64 - 1");
    return json_->get<uint64_t>();
  }
  double number() const {
    if (json_->is_number()) return json_->get<double>();
    if (json_->is_string()) {
      const auto& text = json_->get_ref<const std::string&>();
      if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
      if (text == "inf") return std::numeric_limits<double>::infinity();
      if (text == "-inf") return -std::numeric_limits<double>::infinity();
    }
    fail("a number");
  }
  bool boolean() const {
    if (!json_->is_boolean()) fail("true or false");
    return json_->get<bool>();
  }
  const std::string& text() const {
    if (!json_->is_string()) fail("a text");
    return json_->get_ref<const std::string&>();
  }
  DType dtype() const {
    try {
      return parse_dtype(text());
    } catch (const Error&) {
      fail("a dtype");
    }
  }
  Size size() const {
    if (!json_->is_string()) {
      constexpr int64_t kMost = int64_t{1} << 48;
      return {0, integer(-kMost, kMost)};
    }
    const std::optional<Size> size = parse_size(text());
    if (!size) fail("a size such as 8, 'N' or '4*N+1'");
    return *size;
  }

 private:
  Node child(const char* key, const Json& json) const {
    return {json, where_.empty() ? key : where_ + "." + key, *path_};
  }
  std::string shown() const {
    constexpr size_t kShown = 60;
    if (json_->is_object()) return "an object";
    if (json_->is_array()) return "a list";
    std::string text = json_->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > kShown) text = text.substr(0, kShown) + "...";
    return text;
  }

  const Json* json_;
  std::string where_;
  const std::string* path_;
};

FormMeta read_meta(const Node& node) {
  FormMeta meta{node.at("dtype").dtype(), {}};
  const std::vector<Node> sizes = node.at("shape").list();
  if (sizes.size() > kMaxDims)
    node.at("shape").fail(fmt::format("at most {} sizes", kMaxDims), std::to_string(sizes.size()));
  for (const Node& size : sizes) meta.shape.push_back(size.size());
  return meta;
}

FormTensor read_tensor(const Node& node) {
  node.allow({"name", "kind", "dtype", "shape", "fill"});
  FormTensor tensor;
  tensor.name = node.at("name").text();
  tensor.meta = read_meta(node);
  const std::string& kind = node.at("kind").text();
  static constexpr const char* kKinds[] = {"parameter", "state", "constant", "fill"};
  const auto found = std::find(std::begin(kKinds), std::end(kKinds), kind);
  if (found == std::end(kKinds)) node.at("kind").fail("parameter, state, constant or fill");
  tensor.kind = static_cast<FormTensor::Kind>(found - kKinds);
  if (tensor.kind == FormTensor::Kind::fill) {
    tensor.fill = node.at("fill").number();
    return tensor;
  }
  for (const Size& size : tensor.meta.shape) {
    if (size.factor != 0) node.at("shape").fail("sizes that do not follow the batch");
  }
  if (tensor.kind == FormTensor::Kind::parameter && !is_floating(tensor.meta.dtype))
    node.at("dtype").fail("a floating dtype of a parameter");
  return tensor;
}

template <typename T>
void store(FormRecord& r, const AttrField& field, const T& value) {
  std::memcpy(r.attrs.data() + field.offset, &value, sizeof value);
}

// A whole number, or a size that follows the batch.
int64_t read_i64(FormRecord& r, uint32_t field, uint32_t element, const Node& node, int64_t batch) {
  if (!node.is_text())
    return node.integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  const Size size = node.size();
  r.varying.push_back({field, element, size, false});
  const std::optional<int64_t> value = size.at(batch);
  if (!value) node.fail("a size below 2^63");
  return *value;
}

double read_f64(FormRecord& r, uint32_t field, const Node& node, int64_t batch) {
  if (!node.is_text() || node.text().empty() || node.text()[0] != '(') return node.number();
  const std::string_view text = node.text();
  const std::optional<Size> size = parse_size(text.substr(1, text.find(')') - 1));
  if (!size || text != fmt::format("({0})/({0}-1)", size_text(*size)))
    node.fail("a number, or '(4*N)/(4*N-1)'");
  r.varying.push_back({field, 0, *size, true});
  const std::optional<int64_t> value = size->at(batch);
  if (!value) node.fail("a size below 2^63");
  const auto count = static_cast<double>(*value);
  return *value > 1 ? count / (count - 1) : 1;
}

void read_dims(FormRecord& r, uint32_t number, const Node& node, int64_t batch) {
  const std::vector<Node> list = node.list();
  if (list.size() > kMaxDims)
    node.fail(fmt::format("at most {} numbers", kMaxDims), std::to_string(list.size()));
  Dims dims;
  for (uint32_t i = 0; i < list.size(); ++i) dims.push_back(read_i64(r, number, i, list[i], batch));
  *reinterpret_cast<Dims*>(r.attrs.data() + r.op->attrs().fields[number].offset) = dims;
}

void read_field(FormRecord& r, uint32_t number, const Node& node, int64_t batch) {
  const AttrField& field = r.op->attrs().fields[number];
  switch (field.type) {
    case AttrType::boolean:
      return store(r, field, node.boolean());
    case AttrType::i64:
      return store(r, field, read_i64(r, number, 0, node, batch));
    case AttrType::u64:
      return store(r, field, node.unsigned_integer());
    case AttrType::f64:
      return store(r, field, read_f64(r, number, node, batch));
    case AttrType::dtype:
      return store(r, field, node.dtype());
    case AttrType::dims:
      return read_dims(r, number, node, batch);
    case AttrType::enumeration:
      break;
  }
  const std::string& text = node.text();
  for (size_t i = 0; i < field.choices.size(); ++i) {
    if (field.choices[i] == text) return store(r, field, static_cast<uint8_t>(i));
  }
  node.fail(fmt::format("one of {}", fmt::join(field.choices, ", ")));
}

void read_attributes(FormRecord& r, const std::optional<Node>& node, int64_t batch) {
  const AttrInfo& info = r.op->attrs();
  if (info.bytes) r.attrs = AttrBytes(info.defaults, info.bytes);
  if (!node) return;
  for (const std::string& key : node->keys()) {
    uint32_t number = 0;
    while (number < info.fields.size() && info.fields[number].name != key) ++number;
    if (number == info.fields.size())
      node->fail(fmt::format("attributes of {}", r.op->name), "'" + key + "'");
    read_field(r, number, node->at(key.c_str()), batch);
  }
}

// Reads records, and knows which values are there.
class GraphReader {
 public:
  GraphReader(const Form& form) : form_(form), known_(form.first_computed(), true) {}

  FormGraph read(const Node& node) {
    node.allow({"records", "results"});
    FormGraph graph;
    for (const Node& record : node.at("records").list())
      graph.records.push_back(read_record(record));
    for (const Node& result : node.at("results").list())
      graph.results.push_back(known_value(result));
    if (graph.results.empty()) node.at("results").fail("a result at least", "none");
    return graph;
  }

 private:
  int32_t known_value(const Node& node) const {
    const int64_t value = node.integer(0, static_cast<int64_t>(kMostValues));
    if (value >= static_cast<int64_t>(known_.size()) || !known_[static_cast<size_t>(value)])
      node.fail("a value that was computed before");
    return static_cast<int32_t>(value);
  }

  static const Op& read_op(const Node& node) {
    try {
      const Op& op = find_op(node.text());
      if (!op.flags.internal || op.flags.pointwise) return op;
    } catch (const Error& error) {
      node.fail("an op of this version", error.what());
    }
    node.fail("an op that models may have");
  }

  FormRecord read_record(const Node& node) {
    node.allow({"op", "attributes", "inputs", "outputs", "into", "paused", "layer"});
    FormRecord r;
    r.op = &read_op(node.at("op"));
    read_attributes(r, node.find("attributes"), form_.batch);
    for (const Node& in : node.at("inputs").list())
      r.inputs.push_back(in.is_null() ? kAbsent : known_value(in));
    if (const auto into = node.find("into")) r.into = read_into(*into);
    if (const auto paused = node.find("paused")) r.paused = paused->boolean();
    if (const auto layer = node.find("layer"))
      r.layer =
          static_cast<int32_t>(layer->integer(0, static_cast<int64_t>(form_.layers.size()) - 1));
    for (const Node& out : node.at("outputs").list()) {
      out.allow({"value", "dtype", "shape"});
      const int64_t value = out.at("value").integer(0, static_cast<int64_t>(kMostValues));
      if (value != static_cast<int64_t>(known_.size()))
        out.at("value").fail(std::to_string(known_.size()));
      known_.push_back(true);
      r.outputs.push_back(static_cast<int32_t>(value));
      r.metas.push_back(read_meta(out));
    }
    if ((r.into == kAbsent) == r.outputs.empty())
      node.fail("outputs, or 'into'", r.into == kAbsent ? "none" : "both");
    return r;
  }

  int32_t read_into(const Node& node) const {
    const int32_t value = known_value(node);
    const size_t first = form_.inputs.size(), tensor = static_cast<size_t>(value) - first;
    using Kind = FormTensor::Kind;
    if (static_cast<size_t>(value) < first || tensor >= form_.tensors.size() ||
        form_.tensors[tensor].kind > Kind::state)
      node.fail("a parameter");
    return value;
  }

  const Form& form_;
  std::vector<bool> known_;  // values
};

void read_head(const Node& root) {
  const auto format = root.find("format");
  if (!format || !format->is_text() || format->text() != "thalweg model")
    (format ? *format : root).fail("'format': 'thalweg model'", format ? "another" : "none");
  const int64_t version = root.at("version").integer(1, std::numeric_limits<int64_t>::max());
  if (version > kModelVersion)
    root.at("version").fail(
        fmt::format("at most {}, what this version of Thalweg reads", kModelVersion));
}

void read_tensors(Form& form, const Node& root) {
  std::set<std::string> names;
  for (const Node& node : root.at("tensors").list()) {
    form.tensors.push_back(read_tensor(node));
    if (!names.insert(form.tensors.back().name).second) node.at("name").fail("a name once");
  }
}

void read_layers(Form& form, const Node& root) {
  for (const Node& node : root.at("layers").list()) {
    node.allow({"path", "type", "text"});
    FormLayer layer{node.at("path").text(), node.at("type").text(), ""};
    if (const auto text = node.find("text")) layer.text = text->text();
    form.layers.push_back(std::move(layer));
  }
}

}  // namespace

std::optional<Size> parse_size(std::string_view text) {
  Size size{1, 0};
  const char* at = text.data();
  const char* const end = at + text.size();
  constexpr int64_t kMost = int64_t{1} << 48;
  if (at != end && *at != 'N') {
    const auto [next, error] = std::from_chars(at, end, size.factor);
    if (error != std::errc() || end - next < 2 || next[0] != '*') return {};
    at = next + 1;
  }
  if (at == end || *at != 'N') return {};
  if (++at != end) {
    if (*at != '+' && *at != '-') return {};
    if (*at == '+' && ++at != end && *at == '-') return {};
    const auto [next, error] = std::from_chars(at, end, size.plus);
    if (error != std::errc() || next != end) return {};
  }
  if (std::abs(size.factor) > kMost || std::abs(size.plus) > kMost) return {};
  return size;
}

Form read_form(std::string_view text, const std::string& path, uint32_t& weights_checksum) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail_io("import_model: {} is not JSON; at byte {}", path, error.byte);
  } catch (const Json::exception& error) {
    fail_io("import_model: {} is not JSON; {}", path, error.what());
  }
  const Node root(json, "", path);
  read_head(root);
  root.allow({"format", "version", "batch", "weights", "inputs", "tensors", "layers", "prediction",
              "training"});
  Form form;
  form.batch = root.at("batch").at("size").integer(0, int64_t{1} << 40);
  form.batch_axis = root.at("batch").at("axis").integer(-1, kMaxDims - 1);
  if (const auto fixed = root.at("batch").find("fixed")) form.fixed_batch = fixed->text();
  const Node weights = root.at("weights");
  if (weights.at("file").text() != kModelWeights) weights.at("file").fail(kModelWeights);
  weights_checksum =
      static_cast<uint32_t>(weights.at("crc32c").integer(0, std::numeric_limits<uint32_t>::max()));
  for (const Node& node : root.at("inputs").list()) form.inputs.push_back(read_meta(node));
  if (form.inputs.empty()) root.at("inputs").fail("an argument at least", "none");
  read_tensors(form, root);
  read_layers(form, root);
  form.prediction = GraphReader(form).read(root.at("prediction"));
  if (const auto training = root.find("training"))
    form.training = GraphReader(form).read(*training);
  return form;
}

}  // namespace thalweg::model
