#include <cstring>
#include <filesystem>
#include <optional>

#include <thalweg/base/env.h>
#include <thalweg/base/reader.h>
#include <thalweg/data/sets.h>

#include "base/fail.h"
#include "data/image_set.h"

namespace thalweg::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 32, kChannels = 3, kClasses = 10;
constexpr int64_t kPixels = kChannels * kSide * kSide;
constexpr int64_t kRecord = 1 + kPixels;  // a label, then the planes red, green and blue

std::vector<std::string> names_of(Split split) {
  if (split == Split::test) return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  return names;
}

std::vector<std::string> find_files(const ImageSetOptions& options) {
  std::vector<std::string> folders;
  if (!options.folder.empty()) {
    folders = {options.folder, (fs::path(options.folder) / "cifar-10-batches-bin").string()};
  } else if (const auto data = env_string("THALWEG_DATA")) {
    folders = {(fs::path(*data) / "cifar-10-batches-bin").string(), *data};
  }
  for (const std::string& folder : folders) {
    std::vector<std::string> paths;
    for (const std::string& name : names_of(options.split)) {
      std::error_code ignored;
      const fs::path path = fs::path(folder) / name;
      if (fs::exists(path, ignored)) paths.push_back(path.string());
    }
    if (paths.size() == names_of(options.split).size()) return paths;
  }
  fail(ErrorKind::unavailable,
       "cifar10: the data set is not there; looked for {} in {}; name the folder of its binary "
       "version",
       fmt::join(names_of(options.split), ", "),
       folders.empty() ? "$THALWEG_DATA (not set)" : fmt::format("{}", fmt::join(folders, ", ")));
}

// A file's records, whose number its size tells.
std::vector<uint8_t> read_records(const std::string& path) {
  const auto size = static_cast<int64_t>(fs::file_size(path));
  if (size == 0 || size % kRecord != 0) {
    fail_io("cifar10: {} has {} bytes, not a multiple of {}: a label and {} x {} x {} pixels each",
            path, size, kRecord, kChannels, kSide, kSide);
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  open_reader(path)->read(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

}  // namespace

Dataset cifar10(ImageSetOptions options) {
  std::vector<std::vector<uint8_t>> files;
  int64_t n = 0;
  const std::vector<std::string> paths = find_files(options);
  for (const std::string& path : paths) {
    files.push_back(read_records(path));
    n += static_cast<int64_t>(files.back().size()) / kRecord;
  }
  const Tensor images = Tensor::empty({n, kChannels, kSide, kSide}, {.dtype = DType::u8});
  const Tensor labels = Tensor::empty({n}, {.dtype = DType::i64});
  uint8_t* pixels = images.mutable_data<uint8_t>();
  int64_t* label = labels.mutable_data<int64_t>();
  for (size_t f = 0; f < files.size(); ++f) {
    for (size_t at = 0; at < files[f].size(); at += kRecord, pixels += kPixels) {
      const uint8_t value = files[f][at];
      if (value >= kClasses) {
        fail_io("cifar10: label out of range; {}: label {} is {}, there are {} classes", paths[f],
                at / kRecord, value, kClasses);
      }
      *label++ = value;
      std::memcpy(pixels, files[f].data() + at + 1, kPixels);
    }
  }
  const char* split = options.split == Split::train ? "train" : "test";
  return make_image_set(
      fmt::format("cifar10 ({})", split), images, labels, options.flat,
      {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"});
}

}  // namespace thalweg::data
