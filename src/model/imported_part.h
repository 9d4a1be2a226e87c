#pragma once

#include <map>
#include <memory>
#include <string>

#include <thalweg/nn/module.h>

namespace thalweg::model {

/// A layer of an imported model: parameters and parts by name, and how it is printed. What it does
/// is in the model's records.
class ImportedPart final : public nn::Module {
 public:
  ImportedPart(std::string type, std::string text)
      : type_(std::move(type)), text_(std::move(text)) {}

  /// The part at a path below this one, made if it is not there.
  ImportedPart& at(std::string_view path);
  void add_parameter(std::string name, nn::Parameter parameter) {
    parameters_.emplace_back(std::move(name), std::move(parameter));
  }
  void describe_as(std::string type, std::string text) {
    type_ = std::move(type);
    text_ = std::move(text);
  }
  bool has_parts() const { return !parts_.empty(); }

  /// Runs its records, as a module's function runs.
  Tensor call(FunctionRef<Tensor()> body, std::span<const Tensor> inputs);

  void members(nn::Members& m) override;
  std::string type_name() const override { return type_; }
  std::string describe() override { return text_.empty() ? Module::describe() : text_; }

 private:
  std::string type_, text_;
  std::vector<std::pair<std::string, nn::Parameter>> parameters_;
  std::vector<std::pair<std::string, std::shared_ptr<ImportedPart>>> parts_;
};

}  // namespace thalweg::model
