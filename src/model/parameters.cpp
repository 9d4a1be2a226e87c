#include <set>

#include <thalweg/graph/autograd.h>
#include <thalweg/model/parameters.h>

#include "base/fail.h"

namespace thalweg::model {
namespace {

using nn::NamedParameter;
using nn::ParameterList;

const TensorEntry* find_entry(const SafetensorsFile& file, const NamedParameter& item) {
  const TensorEntry* entry = file.find(item.name);
  for (size_t i = 0; !entry && i < item.aliases.size(); ++i) entry = file.find(item.aliases[i]);
  return entry;
}

bool fits(const Shape& known, const Shape& found) {
  if (known.size() != found.size()) return false;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] != 0 && known[i] != found[i]) return false;
  }
  return true;
}

struct Match {
  const NamedParameter* parameter;
  const TensorEntry* entry;
};

// What file and net do not agree about.
class Differences {
 public:
  explicit Differences(const LoadOptions& options) : options_(options) {}

  void check(const Match& match) {
    const nn::Parameter& parameter = match.parameter->parameter;
    if (!fits(parameter.shape(), match.entry->shape)) {
      other_.push_back(fmt::format("{}: the net has shape {}, the file {}", match.parameter->name,
                                   to_string(parameter.shape()), to_string(match.entry->shape)));
    }
    const DType from = match.entry->dtype, to = parameter.dtype();
    if (from == to || (options_.cast && is_floating(from) && is_floating(to))) return;
    other_.push_back(fmt::format("{}: the net has dtype {}, the file {}", match.parameter->name,
                                 name(to), name(from)));
    hint_cast_ = hint_cast_ || (is_floating(from) && is_floating(to));
  }

  void missing(const std::string& name) {
    if (!options_.allow_missing) missing_.push_back(name);
  }
  void extra(const std::string& name) {
    if (!options_.ignore_extra) extra_.push_back(name);
  }

  void throw_if_any(const std::string& path) const {
    if (missing_.empty() && extra_.empty() && other_.empty()) return;
    std::string text = fmt::format("load_parameters: {} does not fit the net", path);
    if (!missing_.empty()) text += fmt::format("; missing: {}", fmt::join(missing_, ", "));
    if (!extra_.empty()) text += fmt::format("; extra: {}", fmt::join(extra_, ", "));
    if (!other_.empty()) text += fmt::format("; {}", fmt::join(other_, "; "));
    throw Error(ErrorKind::invalid, text + hint());
  }

 private:
  std::string hint() const {
    std::string hint;
    if (!missing_.empty()) hint += "; set allow_missing to keep what they have";
    if (!extra_.empty()) hint += "; set ignore_extra to pass over them";
    if (hint_cast_) hint += "; set cast to convert";
    return hint;
  }

  const LoadOptions& options_;
  std::vector<std::string> missing_, extra_, other_;
  bool hint_cast_ = false;
};

}  // namespace

void save_parameters(nn::Module& net, const std::string& path, const Metadata& metadata) {
  NamedTensors tensors;
  for (const NamedParameter& item : net.parameters()) {
    if (!item.parameter.has_data()) {
      fail_invalid("save_parameters: {} of shape {} has no values yet; initialize and call the net",
                   item.name, to_string(item.parameter.shape()));
    }
    tensors.emplace(item.name, item.parameter.data());
  }
  save_safetensors(path, tensors, metadata);
}

void load_parameters(nn::Module& net, const std::string& path, const LoadOptions& options) {
  const SafetensorsFile file(path);
  const ParameterList parameters = net.parameters();
  Differences differences(options);
  std::vector<Match> matches;
  std::set<std::string_view> used;
  for (const NamedParameter& item : parameters) {
    const TensorEntry* entry = find_entry(file, item);
    if (!entry) {
      differences.missing(item.name);
      continue;
    }
    matches.push_back({&item, entry});
    differences.check(matches.back());
    used.insert(entry->name);
  }
  for (const TensorEntry& entry : file.entries()) {
    if (!used.count(entry.name) && !parameters.contains(entry.name)) differences.extra(entry.name);
  }
  differences.throw_if_any(path);
  const Pause pause;
  for (const Match& match : matches) {
    const Tensor values = file.read(*match.entry);
    match.parameter->parameter.set_data(values.to(match.parameter->parameter.dtype()),
                                        match.parameter->name);
  }
}

}  // namespace thalweg::model
