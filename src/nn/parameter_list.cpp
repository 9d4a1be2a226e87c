#include <algorithm>
#include <regex>

#include <thalweg/base/text.h>
#include <thalweg/nn/parameter.h>

#include "base/fail.h"

namespace thalweg::nn {
namespace {

template <typename Keep>
ParameterList filtered(const ParameterList& list, Keep keep) {
  std::vector<NamedParameter> kept;
  std::copy_if(list.begin(), list.end(), std::back_inserter(kept), keep);
  return ParameterList(std::move(kept));
}

// True for a parameter that goes by a name of which `holds` is true.
template <typename Holds>
bool any_name(const NamedParameter& item, Holds holds) {
  return holds(item.name) || std::any_of(item.aliases.begin(), item.aliases.end(), holds);
}

std::regex compiled(std::string_view pattern) {
  try {
    return std::regex(pattern.begin(), pattern.end());
  } catch (const std::regex_error& error) {
    fail_invalid("matching: '{}' is no regular expression; {}", pattern, error.what());
  }
}

}  // namespace

const NamedParameter* ParameterList::find(std::string_view name) const {
  for (const NamedParameter& item : items_) {
    if (any_name(item, [&](const std::string& n) { return n == name; })) return &item;
  }
  return nullptr;
}

Parameter ParameterList::operator[](std::string_view name) const {
  if (const NamedParameter* item = find(name)) return item->parameter;
  std::vector<std::string_view> names;
  for (const NamedParameter& item : items_) names.push_back(item.name);
  fail_invalid("parameters: there is no '{}'{}", name, did_you_mean(name, names));
}

ParameterList ParameterList::matching(std::string_view pattern) const {
  const std::regex regex = compiled(pattern);
  return filtered(*this, [&](const NamedParameter& item) {
    return any_name(item, [&](const std::string& name) { return std::regex_search(name, regex); });
  });
}

ParameterList ParameterList::with_prefix(std::string_view prefix) const {
  return filtered(*this, [&](const NamedParameter& item) {
    return any_name(item, [&](const std::string& name) { return name.starts_with(prefix); });
  });
}

ParameterList ParameterList::trainable() const {
  return filtered(
      *this, [](const NamedParameter& item) { return item.parameter.grad_req() != GradReq::null; });
}

int64_t ParameterList::element_count() const {
  int64_t count = 0;
  for (const NamedParameter& item : items_) count += item.parameter.size();
  return count;
}

uint64_t ParameterList::bytes() const {
  uint64_t bytes = 0;
  for (const NamedParameter& item : items_) {
    bytes += static_cast<uint64_t>(item.parameter.size()) * item_size(item.parameter.dtype());
  }
  return bytes;
}

const ParameterList& ParameterList::zero_grad() const {
  for (const NamedParameter& item : items_) item.parameter.zero_grad();
  return *this;
}

const ParameterList& ParameterList::set_grad_req(GradReq req) const {
  for (const NamedParameter& item : items_) item.parameter.set_grad_req(req);
  return *this;
}

const ParameterList& ParameterList::set_lr_mult(double factor) const {
  for (const NamedParameter& item : items_) item.parameter.set_lr_mult(factor);
  return *this;
}

const ParameterList& ParameterList::set_wd_mult(double factor) const {
  for (const NamedParameter& item : items_) item.parameter.set_wd_mult(factor);
  return *this;
}

}  // namespace thalweg::nn
