#include <algorithm>
#include <filesystem>
#include <map>

#include <thalweg/base/file.h>

#include "base/fail.h"
#include "data/formats/key_column.h"
#include "data/formats/numbers.h"
#include "data/formats/zip.h"
#include "data/image/image_store.h"

namespace thalweg::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> split_tabs(std::string_view row) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t tab = row.find('\t');
    parts.push_back(row.substr(0, tab));
    if (tab == std::string_view::npos) return parts;
    row.remove_prefix(tab + 1);
  }
}

class ImageMap final : public ImageStore {
 public:
  ImageMap(const std::string& path, const ImageOptions& options)
      : path_(path), folder_(fs::path(path).parent_path().string()), options_(options) {
    if (!options.root.empty()) {
      std::error_code error;
      root_ = fs::canonical(options.root, error).string();
      if (error) fail_io("image: no such root folder: {}; {}", error.message(), options.root);
    }
    text_ = read_file(path);
    std::string_view rest = text_;
    const auto source = open_source(as_bytes(text_), path);
    rest.remove_prefix(start_of_text("image", *source));
    for (int64_t line = 1; !rest.empty(); ++line) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view row = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (row.ends_with('\r')) row.remove_suffix(1);
      if (!trimmed(row).empty()) add(row, line);
    }
    if (items_.empty()) fail_io("image: the map file lists no picture; {}", path);
  }

  std::string name() const override { return path_; }
  int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  int64_t label(int64_t item) const override { return at(item).label; }
  KeyKind key_kind() const override { return keys_.kind(); }
  SequenceKey key(int64_t item) const override { return keys_[item]; }
  std::string where(int64_t item) const override {
    return fmt::format("{}:{}: {}", path_, at(item).line, at(item).name);
  }

  std::string read(int64_t item) const override {
    const Item& it = at(item);
    if (it.archive >= 0) return archives_[static_cast<size_t>(it.archive)]->read(it.entry);
    const std::string path = resolve(it.name);
    if (!root_.empty()) check_root(path, where(item));
    return read_file(path);
  }

 private:
  struct Item {
    std::string_view name;  // part of text_
    int64_t label = 0;
    int64_t line = 0;
    int32_t archive = -1;
    size_t entry = 0;
  };

  const Item& at(int64_t item) const { return items_[static_cast<size_t>(item)]; }

  void add(std::string_view row, int64_t line) {
    const std::string where = fmt::format("{}:{}", path_, line);
    const auto parts = split_tabs(row);
    const bool has_key = parts.size() == 3;
    if (parts.size() < 2 || parts.size() > 3) {
      fail_io(
          "image: malformed map row; {}: expected 'path TAB label' or 'key TAB path TAB label', "
          "found {} fields: '{}'",
          where, parts.size(), shortened(row));
    }
    if (!items_.empty() && has_key == keys_.empty())
      fail_io("image: some map rows have a key and some have none; {}", where);
    Item item{parts[parts.size() - 2], parse_label(parts.back(), options_.classes, where), line};
    if (item.name.empty() || item.name.find('\0') != std::string_view::npos)
      fail_io("image: the path is empty or holds a NUL byte; {}", where);
    if (has_key) keys_.push_back(parts[0]);
    if (const size_t at = item.name.find("@/"); at != std::string_view::npos)
      find_entry(item, at, where);
    items_.push_back(item);
  }

  void find_entry(Item& item, size_t at, const std::string& where) {
    const std::string archive = resolve(item.name.substr(0, at));
    auto [known, is_new] = archive_numbers_.try_emplace(archive, archives_.size());
    if (is_new) {
      if (!root_.empty()) check_root(archive, where);
      archives_.push_back(std::make_unique<ZipArchive>(open_source(archive)));
    }
    item.archive = static_cast<int32_t>(known->second);
    const std::string_view name = item.name.substr(at + 2);
    const auto entry = archives_[known->second]->find(name);
    if (!entry) fail_io("image: no such entry; {}: '{}' in {}", where, name, archive);
    item.entry = *entry;
  }

  // "..." and relative paths begin at the map file's folder.
  std::string resolve(std::string_view name) const {
    if (name.starts_with(".../")) name.remove_prefix(4);
    if (name.starts_with('/')) return std::string(name);
    return (fs::path(folder_) / name).string();
  }

  void check_root(const std::string& path, const std::string& where) const {
    std::error_code error;
    const std::string real = fs::weakly_canonical(path, error).string();
    const bool is_inside = !error && real.starts_with(root_) &&
                           (root_.ends_with('/') || real.substr(root_.size()).starts_with('/'));
    if (!is_inside)
      fail_io("image: the picture lies outside of the root; {}: root {}", where, options_.root);
  }

  std::string path_;
  std::string folder_;
  ImageOptions options_;
  std::string root_;  // canonical
  std::string text_;
  std::vector<Item> items_;
  KeyColumn keys_;
  std::vector<std::unique_ptr<ZipArchive>> archives_;
  std::map<std::string, size_t> archive_numbers_;
};

}  // namespace

std::unique_ptr<ImageStore> open_image_map(const std::string& path, const ImageOptions& options) {
  return std::make_unique<ImageMap>(path, options);
}

}  // namespace thalweg::data
