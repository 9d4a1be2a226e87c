#pragma once

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// The sequences of the first with those of the others joined to them: by key where all have keys
/// of one kind, by number in the corpus where none has. Throws Error{invalid} where a sequence has
/// no partner, a key occurs twice, or streams share a name.
std::shared_ptr<Deserializer> compose(std::vector<DeserializerHandle> parts);

}  // namespace thalweg::data
