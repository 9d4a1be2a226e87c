#include "model/imported_part.h"

namespace thalweg::model {

ImportedPart& ImportedPart::at(std::string_view path) {
  if (path.empty()) return *this;
  const std::string_view first = path.substr(0, path.find('.'));
  const std::string_view rest = path.substr(std::min(path.size(), first.size() + 1));
  for (const auto& [name, part] : parts_) {
    if (name == first) return part->at(rest);
  }
  parts_.emplace_back(first, std::make_shared<ImportedPart>("Part", ""));
  return parts_.back().second->at(rest);
}

Tensor ImportedPart::call(FunctionRef<Tensor()> body, std::span<const Tensor> inputs) {
  switch (inputs.size()) {
    case 0:
      return run(body);
    case 1:
      return run(body, inputs[0]);
    case 2:
      return run(body, inputs[0], inputs[1]);
    default:
      return run(body, inputs[0], inputs[1], inputs[2]);
  }
}

void ImportedPart::members(nn::Members& m) {
  for (auto& [name, parameter] : parameters_) m(name, parameter);
  for (auto& [name, part] : parts_) m(name, static_cast<nn::Module&>(*part));
}

}  // namespace thalweg::model
