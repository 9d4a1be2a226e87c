// Formats of data against what bounds them, in one run: a folder of JPEGs, decoded, cropped at
// random, resized to 224 x 224 and mirrored, against libjpeg-turbo decoding the same files alone;
// NPY and IDX files against copying their bytes. One thread; `formats_micro SECONDS` sets the time
// of each row.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <jpeglib.h>
#include <unistd.h>

#include <thalweg/base/file.h>
#include <thalweg/base/threads.h>
#include <thalweg/thalweg.h>

#include "stopwatch.h"

namespace {

namespace fs = std::filesystem;
using thalweg::Bytes;
using thalweg::Tensor;
using namespace thalweg::data;

constexpr int kHeight = 375;  // the middle size of ImageNet
constexpr int kWidth = 500;
constexpr int kPictures = 16;

// Smooth shapes with noise on them, at a quality that gives ImageNet's 110 kB.
std::string make_jpeg(uint64_t seed) {
  thalweg::Philox random(seed);
  std::vector<uint8_t> pixels(size_t{3} * kHeight * kWidth);
  const double phase = random.uniform64() * 6;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x)
      for (int c = 0; c < 3; ++c) {
        const double wave = std::sin(phase + x * 0.02 * (c + 1)) * std::cos(y * 0.03 + phase * c);
        const double value = 128 + 80 * wave + 12 * random.normal();
        pixels[static_cast<size_t>((y * kWidth + x) * 3 + c)] =
            static_cast<uint8_t>(std::clamp(value, 0.0, 255.0));
      }
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &out, &size);
  info.image_width = kWidth;
  info.image_height = kHeight;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < kHeight) {
    JSAMPROW row = pixels.data() + size_t{3} * kWidth * info.next_scanline;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string file(reinterpret_cast<char*>(out), size);
  std::free(out);
  jpeg_destroy_compress(&info);
  return file;
}

void decode_alone(const std::string& file, std::vector<uint8_t>& pixels) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  pixels.resize(size_t{3} * info.output_width * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + size_t{3} * info.output_width * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

void bench_pictures(const std::string& folder, double seconds) {
  std::vector<std::string> files;
  size_t bytes = 0;
  for (int i = 0; i < kPictures; ++i) {
    files.push_back(make_jpeg(static_cast<uint64_t>(i)));
    bytes += files.back().size();
    fs::create_directories(fmt::format("{}/pictures/{}", folder, i % 2));
    thalweg::write_file(fmt::format("{}/pictures/{}/{:03}.jpg", folder, i % 2, i), files.back());
  }
  MinibatchSource source({ImageFolderDeserializer(folder + "/pictures")},
                         {.seed = 1,
                          .max_sweeps = 0,
                          .workers = 0,
                          .transforms = {{{"image"}, {random_resized_crop(), random_flip()}}}});
  std::vector<uint8_t> pixels;
  const auto best = bench::race({[&] {
                                   for (const std::string& file : files) decode_alone(file, pixels);
                                 },
                                 [&] {
                                   const Minibatch minibatch = source.next_minibatch(kPictures);
                                   if (minibatch["image"].size(0) != kPictures) std::abort();
                                 }},
                                seconds);
  fmt::print(
      "jpeg folder, {} kB a file: libjpeg alone {:.2f} ms, read + decode + crop + flip {:.2f} ms; "
      "{:.0f} %\n",
      bytes / kPictures / 1000, best[0] / 1e6 / kPictures, best[1] / 1e6 / kPictures,
      100 * best[0] / best[1]);
}

// All chunks of a corpus in turn, every row looked at.
void read_all(const Deserializer& corpus) {
  int64_t sum = 0;
  for (int64_t c = 0; corpus.has_chunk(c); ++c) {
    const auto chunk = corpus.load(c);
    const int64_t n = corpus.chunk(c).sequences;
    for (int64_t i = 0; i < n; ++i)
      sum += *static_cast<const uint8_t*>(chunk->read(i, 0, {}).values);
  }
  if (sum == 42) std::abort();
}

void bench_array(const char* what, const Deserializer& corpus, const std::string& path,
                 double seconds) {
  const std::string content = thalweg::read_file(path);
  const size_t row = content.size() / 60000;
  constexpr size_t kPiece = size_t{16} << 20;
  const auto best = bench::race({[&] {
                                   // As a reader has to: into memory that is new, every row looked
                                   // at.
                                   for (size_t at = 0; at < content.size(); at += kPiece) {
                                     const size_t n = std::min(kPiece, content.size() - at);
                                     const auto copy =
                                         std::make_unique_for_overwrite<std::byte[]>(n);
                                     std::memcpy(copy.get(), content.data() + at, n);
                                     int64_t sum = 0;
                                     for (size_t i = 0; i < n; i += row)
                                       sum += static_cast<int64_t>(copy[i]);
                                     if (sum == 42) std::abort();
                                   }
                                 },
                                 [&] { read_all(corpus); }},
                                seconds);
  fmt::print("{}: copying {:.2f} GB/s, reading {:.2f} GB/s; {:.0f} %\n", what,
             static_cast<double>(content.size()) / best[0],
             static_cast<double>(content.size()) / best[1], 100 * best[0] / best[1]);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  thalweg::set_num_threads(1);
  const std::string folder = fmt::format("/tmp/thalweg-formats-micro-{}", ::getpid());
  fs::create_directories(folder);
  bench_pictures(folder, seconds);
  const Tensor rows = Tensor::zeros({60000, 784}, {.dtype = thalweg::DType::f32});
  write_npy(folder + "/x.npy", rows);
  bench_array("npy f32 [60000, 784]", NPYDeserializer(folder + "/x.npy"), folder + "/x.npy",
              seconds);
  const Tensor pixels = Tensor::zeros({60000, 784}, {.dtype = thalweg::DType::u8});
  write_idx(folder + "/x.idx", pixels);
  bench_array("idx u8 [60000, 784]", IDXDeserializer({{"data", folder + "/x.idx"}}),
              folder + "/x.idx", seconds);
  write_idx(folder + "/y.idx", rows);
  bench_array("idx f32 [60000, 784]", IDXDeserializer({{"data", folder + "/y.idx"}}),
              folder + "/y.idx", seconds);
  fs::remove_all(folder);
}
