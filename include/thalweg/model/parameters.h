#pragma once

#include <string>

#include <thalweg/base/export.h>
#include <thalweg/model/safetensors.h>
#include <thalweg/nn/module.h>

namespace thalweg::model {

/// Writes all parameters of a net, running statistics too, by their structural names ("0.weight")
/// to a safetensors file. Throws Error{invalid} for a parameter that has no values yet.
THALWEG_API void save_parameters(nn::Module& net, const std::string& path,
                                 const Metadata& metadata = {});

struct LoadOptions {
  bool allow_missing = false;  ///< parameters that are not in the file keep what they have
  bool ignore_extra = false;   ///< tensors that the net has no parameter for are passed over
  bool cast = false;           ///< tensors of another floating dtype are converted
};

/// Gives the parameters of a net the values in a file. They need not be initialised; shapes that
/// are not known yet are taken from the file. A shared parameter is found under any of its names.
/// Throws Error{invalid} that lists all names that are missing, extra or of another shape or dtype;
/// then nothing was changed. Throws Error{io} for a file that is damaged.
THALWEG_API void load_parameters(nn::Module& net, const std::string& path,
                                 const LoadOptions& options = {});

}  // namespace thalweg::model
