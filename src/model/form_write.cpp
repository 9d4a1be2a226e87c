#include <cmath>
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "model/form_text.h"

namespace thalweg::model {
namespace {

using Json = nlohmann::ordered_json;

Json size_json(const Size& size) {
  return size.factor == 0 ? Json(size.plus) : Json(size_text(size));
}

Json meta_json(const FormMeta& meta) {
  Json shape = Json::array();
  for (const Size& size : meta.shape) shape.push_back(size_json(size));
  return {{"dtype", name(meta.dtype)}, {"shape", std::move(shape)}};
}

Json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

template <typename T>
T load(const FormRecord& r, const AttrField& field) {
  T value;
  std::memcpy(&value, r.attrs.data() + field.offset, sizeof value);
  return value;
}

const FormVarying* varying_of(const FormRecord& r, uint32_t field, uint32_t element) {
  for (const FormVarying& varying : r.varying) {
    if (varying.field == field && varying.element == element) return &varying;
  }
  return nullptr;
}

Json varying_json(const FormVarying& varying) {
  const std::string text = size_text(varying.size);
  return varying.unbiased ? fmt::format("({})/({}-1)", text, text) : text;
}

Json field_json(const FormRecord& r, uint32_t number) {
  const AttrField& field = r.op->attrs().fields[number];
  if (field.type != AttrType::dims) {
    if (const FormVarying* varying = varying_of(r, number, 0)) return varying_json(*varying);
  }
  switch (field.type) {
    case AttrType::boolean:
      return load<bool>(r, field);
    case AttrType::i64:
      return load<int64_t>(r, field);
    case AttrType::u64:
      return load<uint64_t>(r, field);
    case AttrType::f64:
      return number_json(load<double>(r, field));
    case AttrType::dtype:
      return name(load<DType>(r, field));
    case AttrType::enumeration:
      return field.choices[load<uint8_t>(r, field)];
    case AttrType::dims:
      break;
  }
  const Dims& dims = *reinterpret_cast<const Dims*>(r.attrs.data() + field.offset);
  Json list = Json::array();
  for (uint32_t i = 0; i < dims.size(); ++i) {
    const FormVarying* varying = varying_of(r, number, i);
    list.push_back(varying ? varying_json(*varying) : Json(dims[i]));
  }
  return list;
}

Json record_json(const FormRecord& r) {
  Json json{{"op", r.op->name}};
  Json attributes = Json::object();
  const auto& fields = r.op->attrs().fields;
  for (uint32_t i = 0; i < fields.size(); ++i) {
    const std::string_view field = fields[i].name;
    if (r.op->flags.random && (field == "seed" || field == "offset")) continue;
    attributes[std::string(field)] = field_json(r, i);
  }
  if (!attributes.empty()) json["attributes"] = std::move(attributes);
  json["inputs"] = Json::array();
  for (const int32_t in : r.inputs) json["inputs"].push_back(in == kAbsent ? Json() : Json(in));
  json["outputs"] = Json::array();
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    Json output{{"value", r.outputs[i]}};
    output.update(meta_json(r.metas[i]));
    json["outputs"].push_back(std::move(output));
  }
  if (r.into != kAbsent) json["into"] = r.into;
  if (r.paused) json["paused"] = true;
  if (r.layer != kAbsent) json["layer"] = r.layer;
  return json;
}

Json graph_json(const FormGraph& graph) {
  Json json{{"records", Json::array()}, {"results", graph.results}};
  for (const FormRecord& r : graph.records) json["records"].push_back(record_json(r));
  return json;
}

Json tensor_json(const FormTensor& tensor) {
  static constexpr const char* kKinds[] = {"parameter", "state", "constant", "fill"};
  Json json{{"name", tensor.name}, {"kind", kKinds[static_cast<int>(tensor.kind)]}};
  json.update(meta_json(tensor.meta));
  if (tensor.kind == FormTensor::Kind::fill) json["fill"] = number_json(tensor.fill);
  return json;
}

}  // namespace

std::string size_text(const Size& size) {
  if (size.factor == 0) return std::to_string(size.plus);
  std::string text = size.factor == 1 ? "N" : fmt::format("{}*N", size.factor);
  if (size.plus != 0) text += fmt::format("{:+}", size.plus);
  return text;
}

std::string write_form(const Form& form, uint32_t weights_checksum) {
  Json json{{"format", "thalweg model"}, {"version", kModelVersion}};
  json["batch"] = {{"size", form.batch}, {"axis", form.batch_axis}};
  if (!form.fixed_batch.empty()) json["batch"]["fixed"] = form.fixed_batch;
  json["weights"] = {{"file", kModelWeights}, {"crc32c", weights_checksum}};
  json["inputs"] = Json::array();
  for (const FormMeta& meta : form.inputs) json["inputs"].push_back(meta_json(meta));
  json["tensors"] = Json::array();
  for (const FormTensor& tensor : form.tensors) json["tensors"].push_back(tensor_json(tensor));
  json["layers"] = Json::array();
  for (const FormLayer& layer : form.layers) {
    Json entry{{"path", layer.path}, {"type", layer.type}};
    if (!layer.text.empty()) entry["text"] = layer.text;
    json["layers"].push_back(std::move(entry));
  }
  json["prediction"] = graph_json(form.prediction);
  if (form.training) json["training"] = graph_json(*form.training);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace thalweg::model
