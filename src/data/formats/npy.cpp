#include <thalweg/base/writer.h>
#include <thalweg/data/npy.h>

#include "base/fail.h"
#include "data/formats/npy_header.h"
#include "data/formats/zip.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

Tensor read_whole(std::shared_ptr<const ByteSource> source, const std::string& name) {
  const uint64_t size = source->size();
  return read_array(read_npy_header(std::move(source), 0, size, name));
}

void write_array(Writer& writer, const Tensor& tensor) {
  const Tensor host = row_major_on_host("npy", tensor);
  writer.write(npy_header(host.dtype(), host.shape()));
  writer.write(Bytes(host.impl()->as<const std::byte>(),
                     static_cast<size_t>(host.size()) * item_size(host.dtype())));
}

}  // namespace

Tensor read_npy(const std::string& path) { return read_whole(open_source(path), path); }

Tensor read_npy(Bytes bytes, const std::string& name) {
  return read_whole(open_source(bytes, name), name);
}

void write_npy(const std::string& path, const Tensor& tensor) {
  AtomicFile file(path);
  write_array(file, tensor);
  file.commit();
}

std::vector<NamedTensor> read_npz(const std::string& path) {
  const ZipArchive zip(open_source(path));
  std::vector<NamedTensor> arrays;
  for (size_t i = 0; i < zip.entries().size(); ++i) {
    std::string name = zip.entries()[i].name;
    const std::string content = zip.read(i);
    Tensor array = read_npy(as_bytes(content), fmt::format("{}: {}", path, name));
    if (name.ends_with(".npy")) name.erase(name.size() - 4);
    arrays.push_back({std::move(name), std::move(array)});
  }
  return arrays;
}

void write_npz(const std::string& path, const std::vector<NamedTensor>& arrays) {
  AtomicFile file(path);
  ZipWriter zip(file);
  for (const NamedTensor& array : arrays) {
    MemoryWriter content;
    write_array(content, array.tensor);
    zip.write(array.name + ".npy", content.bytes());
  }
  zip.finish();
  file.commit();
}

}  // namespace thalweg::data
