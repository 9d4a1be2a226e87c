#pragma once

// What a run goes on from, in one file: named tensors and named texts and numbers, in safetensors'
// format, with a checksum for each part. Files are replaced as a whole or not at all.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/tensor/tensor.h>

namespace thalweg::nn {
class Module;
}

namespace thalweg::train {

/// The parts of a checkpoint by name. Tensors are handles: what is put in is written as it is when
/// write() is called.
class THALWEG_API Checkpoint {
 public:
  void put(std::string name, const Tensor& tensor);
  void put(std::string name, std::string_view text);
  void put(std::string name, int64_t value);
  void put(std::string name, uint64_t value);
  /// All bits are kept, NaN's too.
  void put(std::string name, double value);

  // Parts by name. Throw Error{io} that names the file and the part if it is missing or of another
  // kind.
  const Tensor& tensor(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  uint64_t bits(std::string_view name) const;
  double number(std::string_view name) const;

  bool has(std::string_view name) const;
  /// Names of the tensors that begin with `prefix`.
  std::vector<std::string> tensors_in(std::string_view prefix) const;

  /// Throws Error{io} if the file cannot be written; a file that was there before stays then.
  void write(const std::string& path) const;
  /// Throws Error{io}, with the file and the part, for anything that is not as write() left it.
  static Checkpoint read(const std::string& path);

  /// The file it was read from; "" if from none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> texts_;
};

/// True for a safetensors file that is a checkpoint by its own words. Throws Error{io} for a file
/// that is no safetensors file.
THALWEG_API bool is_checkpoint(const std::string& path);

/// Gives a net the weights in a session's checkpoint. Throws Error{io} for a weight that is missing
/// or that the net has not, and Error{invalid} for one of another shape or dtype.
THALWEG_API void load_weights(nn::Module& net, const Checkpoint& checkpoint);

struct CheckpointFolderOptions {
  int64_t keep_last = 3;  ///< older ones are removed after a new one is safely there; 0 keeps all
};

/// The checkpoints of a run: step-<number>.safetensors, and best.safetensors, which stays. Other
/// files are left alone.
class THALWEG_API CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string folder, CheckpointFolderOptions options = {});

  /// Writes the checkpoint of a step; returns its path. Throws Error{io} if that fails: those that
  /// were there are still there.
  std::string write(int64_t step, const Checkpoint& checkpoint) const;
  std::string write_best(const Checkpoint& checkpoint) const;

  /// Steps that have a file, rising; it need not be whole.
  std::vector<int64_t> steps() const;
  std::string path_of(int64_t step) const;
  std::string best_path() const { return folder_ + "/best.safetensors"; }

  /// The newest checkpoint that is whole; a warning for each newer one that is not. Throws
  /// Error{io} if there is none, with what is wrong with each.
  Checkpoint newest() const;

 private:
  std::string folder_;
  CheckpointFolderOptions options_;
};

}  // namespace thalweg::train
