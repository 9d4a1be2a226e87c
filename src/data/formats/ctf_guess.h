#pragma once

#include <string>
#include <vector>

#include <thalweg/data/format.h>

namespace thalweg::data {

/// The streams that the first MiB of a CTF file looks like having, in the order of their names.
std::vector<StreamSpec> guess_ctf_streams(const std::string& path);

}  // namespace thalweg::data
