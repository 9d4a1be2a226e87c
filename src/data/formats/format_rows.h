#pragma once

// The rows of the table of formats; each is defined beside its format.

#include <thalweg/data/format.h>

namespace thalweg::data {

Format ctf_format();
Format cbf_format();

}  // namespace thalweg::data
