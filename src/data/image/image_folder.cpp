#include <algorithm>
#include <filesystem>
#include <map>

#include <thalweg/base/file.h>

#include "base/fail.h"
#include "base/log_format.h"
#include "data/formats/zip.h"
#include "data/image/image_store.h"

namespace thalweg::data {
namespace {

namespace fs = std::filesystem;

bool is_picture(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return lower.ends_with(".jpg") || lower.ends_with(".jpeg") || lower.ends_with(".png");
}

struct Listed {
  std::string path;  // "class/.../name", relative to the folder
  size_t entry = 0;  // in a zip archive
};

// What the names of the pictures say: classes and order.
class ClassFolders : public ImageStore {
 public:
  std::string name() const override { return folder_; }
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  int64_t label(int64_t item) const override { return labels_[static_cast<size_t>(item)]; }
  std::string where(int64_t item) const override {
    return fmt::format("{}/{}", folder_, at(item).path);
  }
  std::vector<std::string> class_names() const override { return classes_; }

 protected:
  explicit ClassFolders(const std::string& folder) : folder_(folder) {}

  const Listed& at(int64_t item) const { return items_[static_cast<size_t>(item)]; }

  // `classes` are those known to be there, also without a picture.
  void arrange(std::vector<Listed> items, std::vector<std::string> classes, int64_t expected) {
    items_ = std::move(items);
    std::ranges::sort(items_, {}, &Listed::path);
    for (const Listed& item : items_) {
      const size_t slash = item.path.find('/');
      if (slash == std::string::npos) {
        fail_io("image: a picture lies in no class folder; {}/{}: expected {}/CLASS/{}", folder_,
                item.path, folder_, item.path);
      }
      classes.push_back(item.path.substr(0, slash));
    }
    if (items_.empty())
      fail_io("image: no picture is there; {}: expected {}/CLASS/*.jpg, *.jpeg or *.png", folder_,
              folder_);
    std::ranges::sort(classes);
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    classes_ = std::move(classes);
    if (expected > 0 && static_cast<int64_t>(classes_.size()) != expected) {
      fail_io("image: the number of class folders differs; {}: expected {}, found {}", folder_,
              expected, classes_.size());
    }
    std::vector<int64_t> counts(classes_.size());
    for (const Listed& item : items_) {
      const std::string_view name = std::string_view(item.path).substr(0, item.path.find('/'));
      labels_.push_back(std::ranges::lower_bound(classes_, name) - classes_.begin());
      ++counts[static_cast<size_t>(labels_.back())];
    }
    for (size_t i = 0; i < counts.size(); ++i)
      if (counts[i] == 0) log_warn("image: a class has no picture; {}/{}", folder_, classes_[i]);
  }

 private:
  std::string folder_;
  std::vector<Listed> items_;
  std::vector<int64_t> labels_;
  std::vector<std::string> classes_;
};

class FolderOnDisk final : public ClassFolders {
 public:
  FolderOnDisk(const std::string& folder, const ImageOptions& options) : ClassFolders(folder) {
    std::vector<Listed> items;
    std::vector<std::string> classes;
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::follow_directory_symlink,
                                        error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      std::string path = it->path().string().substr(folder.size());
      while (path.starts_with('/')) path.erase(0, 1);
      if (it->is_directory(error)) {
        if (it.depth() == 0) classes.push_back(path);
      } else if (is_picture(path)) {
        items.push_back({std::move(path)});
      }
    }
    if (error) fail_io("image: cannot list the folder: {}; {}", error.message(), folder);
    arrange(std::move(items), std::move(classes), options.classes);
  }

  std::string read(int64_t item) const override { return read_file(name() + '/' + at(item).path); }
};

class FolderInZip final : public ClassFolders {
 public:
  FolderInZip(const std::string& path, const ImageOptions& options)
      : ClassFolders(path), archive_(open_source(path)) {
    std::vector<Listed> items;
    const auto& entries = archive_.entries();
    for (size_t i = 0; i < entries.size(); ++i)
      if (is_picture(entries[i].name)) items.push_back({entries[i].name, i});
    drop_common_folder(items);
    arrange(std::move(items), {}, options.classes);
  }

  std::string read(int64_t item) const override { return archive_.read(at(item).entry); }

 private:
  // Archives often hold one folder with all the rest in it.
  static void drop_common_folder(std::vector<Listed>& items) {
    if (items.empty()) return;
    const std::string first = items[0].path.substr(0, items[0].path.find('/') + 1);
    const bool all_deeper = std::ranges::all_of(items, [&](const Listed& item) {
      return !first.empty() && item.path.starts_with(first) &&
             item.path.find('/', first.size()) != std::string::npos;
    });
    if (!all_deeper) return;
    for (Listed& item : items) item.path.erase(0, first.size());
  }

  ZipArchive archive_;
};

}  // namespace

std::unique_ptr<ImageStore> open_image_folder(const std::string& folder,
                                              const ImageOptions& options) {
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored)) return std::make_unique<FolderInZip>(folder, options);
  return std::make_unique<FolderOnDisk>(folder, options);
}

}  // namespace thalweg::data
