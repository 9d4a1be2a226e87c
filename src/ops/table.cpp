#include "ops/table.h"

#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include <thalweg/base/env.h>
#include <thalweg/base/text.h>

#include "base/fail.h"
#include "base/log_format.h"
#include "ops/compose.h"

namespace thalweg {
namespace {

struct Table {
  std::vector<const Op*> rows;
  std::unordered_map<std::string_view, const Op*> by_name;

  Table() {
    for (RowSpan family : kFamilies) {
      for (const Op* row : family()) {
        rows.push_back(row);
        THALWEG_ASSERT(by_name.emplace(row->name, row).second);
      }
    }
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

// The kernels that THALWEG_WITHOUT names, with commas between them; true once one was left out.
std::map<std::string, bool, std::less<>>& left_out() {
  static std::map<std::string, bool, std::less<>> names = [] {
    std::map<std::string, bool, std::less<>> read;
    std::istringstream list(env_string("THALWEG_WITHOUT").value_or(""));
    for (std::string name; std::getline(list, name, ',');) read.emplace(name, false);
    return read;
  }();
  return names;
}

}  // namespace

std::span<const Op* const> all_ops() { return table().rows; }

const Op& find_op(std::string_view name) {
  const auto found = table().by_name.find(name);
  if (found != table().by_name.end()) return *found->second;
  std::vector<std::string_view> names;
  for (const Op* row : all_ops()) names.push_back(row->name);
  fail_invalid("op table: no op '{}'{}", name, did_you_mean(name, names));
}

void add_kernel(const char* name, DeviceKind device, const Kernel& kernel) {
  if (const auto found = left_out().find(kernel.name); found != left_out().end()) {
    found->second = true;
    return;
  }
  find_op(name).kernels[static_cast<int>(device)].add(kernel);
}

void add_reference_kernels() {
  for (const auto& [name, found] : left_out()) {
    if (!found) log_warn("THALWEG_WITHOUT: no kernel is named '{}'", name);
  }
  for (const Op* row : all_ops()) {
    if (row->reference) {
      row->kernels[static_cast<int>(DeviceKind::cpu)].add({"reference", nullptr, row->reference});
    }
  }
}

}  // namespace thalweg
