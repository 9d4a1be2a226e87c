#pragma once

#include <span>
#include <string>

#include <thalweg/base/function_ref.h>
#include <thalweg/base/writer.h>

namespace thalweg::data {

/// Rows on their way into a file whose format begins with their number: a file without a name, in
/// the folder of the one that is written, which goes with this object.
class RowSpool final : public Writer {
 public:
  explicit RowSpool(const std::string& beside);
  ~RowSpool() override;

  /// What was written, in order and in pieces of kPiece bytes, the last being the rest. The pieces
  /// may be changed. May be called again; nothing is written after the first call.
  void read_back(FunctionRef<void(std::span<std::byte> piece)> take);

  static constexpr size_t kPiece = 1 << 20;

 private:
  void put(Bytes bytes) override;

  std::string path_;  // of the file that is written
  int fd_ = -1;
};

}  // namespace thalweg::data
