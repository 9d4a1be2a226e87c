#include <filesystem>
#include <optional>

#include <thalweg/base/env.h>
#include <thalweg/data/idx.h>
#include <thalweg/data/sets.h>

#include "base/fail.h"
#include "data/image_set.h"

namespace thalweg::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDebianFolder = "/usr/share/datasets/fashion-mnist";

/// What tells the sets of this form apart.
struct Family {
  const char* function;
  const char* folder;              // below $THALWEG_DATA
  std::vector<std::string> extra;  // folders looked in last
  const char* hint;
  std::vector<std::string> class_names;
};

struct Files {
  std::string images;
  std::string labels;
};

// The file of the set in a folder, under one of the names it goes by.
std::optional<std::string> find_file(const fs::path& folder, const std::string& part, int dims) {
  for (const char* dot : {"-", "."}) {
    for (const char* suffix : {"", ".gz"}) {
      const fs::path path = folder / fmt::format("{}{}idx{}-ubyte{}", part, dot, dims, suffix);
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path.string();
    }
  }
  return std::nullopt;
}

std::vector<std::string> folders_of(const Family& family, const std::string& named) {
  if (!named.empty()) return {named};
  std::vector<std::string> folders;
  if (const auto data = env_string("THALWEG_DATA")) {
    folders.push_back(*data);
    folders.push_back((fs::path(*data) / family.folder).string());
  }
  folders.insert(folders.end(), family.extra.begin(), family.extra.end());
  return folders;
}

Files find_files(const Family& family, const ImageSetOptions& options) {
  const std::string split = options.split == Split::train ? "train" : "t10k";
  const std::vector<std::string> folders = folders_of(family, options.folder);
  for (const std::string& folder : folders) {
    const auto images = find_file(folder, split + "-images", 3);
    const auto labels = find_file(folder, split + "-labels", 1);
    if (images && labels) return {*images, *labels};
  }
  std::string looked = fmt::format("{}", fmt::join(folders, ", "));
  if (options.folder.empty() && !env_string("THALWEG_DATA")) {
    looked = fmt::format("$THALWEG_DATA (not set){}{}", looked.empty() ? "" : ", ", looked);
  }
  fail(ErrorKind::unavailable,
       "{}: the data set is not there; looked for {}-images-idx3-ubyte[.gz] and "
       "{}-labels-idx1-ubyte[.gz] in {}; {}",
       family.function, split, split, looked, family.hint);
}

Tensor read_images(const Family& family, const std::string& path) {
  const Tensor images = read_idx(path);
  if (images.dtype() != DType::u8 || images.dims() != 3) {
    fail_io("{}: {} holds {} {}, not u8 [samples, height, width]", family.function, path,
            name(images.dtype()), to_string(images.shape()));
  }
  return images;
}

Tensor read_labels(const Family& family, const std::string& path, int64_t samples) {
  const Tensor bytes = read_idx(path);
  if (bytes.dtype() != DType::u8 || bytes.shape() != Shape({samples})) {
    fail_io("{}: {} holds {} {}, not one u8 label for each of the {} images", family.function, path,
            name(bytes.dtype()), to_string(bytes.shape()), samples);
  }
  const size_t classes = family.class_names.size();
  const uint8_t* from = bytes.data<uint8_t>();
  const Tensor labels = Tensor::empty({samples}, {.dtype = DType::i64});
  int64_t* to = labels.mutable_data<int64_t>();
  for (int64_t i = 0; i < samples; ++i) {
    if (from[i] >= classes) {
      fail_io("{}: label out of range; {}: label {} is {}, there are {} classes", family.function,
              path, i, from[i], classes);
    }
    to[i] = from[i];
  }
  return labels;
}

Dataset load(const Family& family, const ImageSetOptions& options) {
  const Files files = find_files(family, options);
  const Tensor images = read_images(family, files.images);
  const Tensor labels = read_labels(family, files.labels, images.size(0));
  const char* split = options.split == Split::train ? "train" : "test";
  return make_image_set(fmt::format("{} ({})", family.function, split), images, labels,
                        options.flat, family.class_names);
}

}  // namespace

Dataset fashion_mnist(ImageSetOptions options) {
  static const Family family = {
      "fashion_mnist",
      "fashion-mnist",
      {kDebianFolder},
      "get it by 'apt-get install dataset-fashion-mnist', or name the folder of its files",
      {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
       "Ankle boot"}};
  return load(family, options);
}

Dataset mnist(ImageSetOptions options) {
  static const Family family = {"mnist",
                                "mnist",
                                {},
                                "name the folder of its files",
                                {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}};
  return load(family, options);
}

}  // namespace thalweg::data
