#include "data/array_source.h"

#include <algorithm>
#include <cstring>

#include <thalweg/base/threads.h>

#include "base/fail.h"
#include "data/rows.h"

namespace thalweg::data {
namespace {

constexpr size_t kLine = 64;
// The first bytes of a row are on their way while the one before is copied; the hardware sees to
// the rest. Asking for all of a long row was measured to be slower than asking for none.
constexpr size_t kPrefetchBytes = 1024;
constexpr size_t kMaxRowsAhead = 16;
constexpr size_t kTileBytes = 128 * 1024;  // that one thread gathers at a time
constexpr double kNsPerByte = 0.1;

void prefetch(const std::byte* row, size_t bytes) {
  for (size_t i = 0; i < bytes; i += kLine) __builtin_prefetch(row + i);
}

// Calls put(row, i) for the row of each requested sample, in order.
template <typename Put>
void for_rows(const std::byte* rows, size_t row_bytes, std::span<const SampleKey> samples,
              Put&& put) {
  const size_t n = samples.size();
  const size_t bytes = std::min(row_bytes, kPrefetchBytes);
  const size_t ahead = std::clamp<size_t>(kPrefetchBytes / (bytes + 1), 1, kMaxRowsAhead);
  const auto row = [&](size_t i) {
    return rows + static_cast<size_t>(samples[i].index) * row_bytes;
  };
  for (size_t i = 0; i < n; ++i) {
    if (i + ahead < n) prefetch(row(i + ahead), bytes);
    put(row(i), i);
  }
}

bool is_identity(const Conversion& conversion, DType from) {
  return conversion.dtype == from &&
         std::ranges::all_of(conversion.scale, [](double s) { return s == 1; }) &&
         std::ranges::all_of(conversion.shift, [](double s) { return s == 0; });
}

}  // namespace

ArraySource::ArraySource(std::string name, const std::vector<NamedTensor>& tensors,
                         std::vector<std::string> class_names)
    : name_(std::move(name)), class_names_(std::move(class_names)) {
  if (tensors.empty()) fail_invalid("ArrayDataset: no tensor was given");
  for (const NamedTensor& given : tensors) {
    const Tensor rows = row_major_on_host("ArrayDataset", given.tensor);
    if (rows.dims() == 0)
      fail_invalid("ArrayDataset: '{}' is 0-d; its first axis must be the samples", given.name);
    if (columns_.empty()) size_ = rows.size(0);
    if (rows.size(0) != size_) {
      fail_invalid("ArrayDataset: numbers of samples differ; '{}' has {}, '{}' has {}",
                   fields_[0].name, size_, given.name, rows.size(0));
    }
    Shape sample = rows.shape();
    sample.erase(0);
    const size_t row_bytes = static_cast<size_t>(element_count(sample)) * item_size(rows.dtype());
    fields_.push_back({given.name, rows.dtype(), sample});
    columns_.push_back({rows, row_bytes, std::nullopt});
  }
}

std::vector<Tensor> ArraySource::gather(const Request& request) const {
  std::vector<Tensor> result;
  result.reserve(columns_.size());
  for (size_t f = 0; f < columns_.size(); ++f) {
    const Column& column = columns_[f];
    const Field& field = fields_[f];
    const size_t n = request.size();
    Tensor out = Tensor::empty(batch_shape(n, field.shape), {.dtype = field.dtype});
    const std::byte* rows = column.rows.impl()->as<const std::byte>();
    std::byte* to = out.impl()->as<std::byte>();
    const size_t out_bytes =
        static_cast<size_t>(element_count(field.shape)) * item_size(field.dtype);
    const double row_ns = static_cast<double>(out_bytes) * kNsPerByte;
    const auto grain = static_cast<int64_t>(std::max<size_t>(1, kTileBytes / (out_bytes + 1)));
    parallel_ranges(static_cast<int64_t>(n), grain, row_ns, [&](int64_t begin, int64_t end) {
      const auto part =
          request.samples.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      std::byte* start = to + static_cast<size_t>(begin) * out_bytes;
      for_rows(rows, column.row_bytes, part, [&](const std::byte* row, size_t i) {
        if (column.converter)
          (*column.converter)(row, start + i * out_bytes);
        else
          std::memcpy(start + i * out_bytes, row, out_bytes);
      });
    });
    result.push_back(std::move(out));
  }
  return result;
}

std::shared_ptr<const SampleSource> ArraySource::converted(size_t field,
                                                           const Conversion& conversion) const {
  const Column& column = columns_[field];
  if (column.converter && fields_[field].dtype != DType::f32 && fields_[field].dtype != DType::f64)
    return nullptr;  // the values so far are rounded, which a conversion of both at once would skip
  auto result = std::make_shared<ArraySource>(*this);
  const Conversion whole =
      column.converter ? compose(column.converter->conversion(), conversion) : conversion;
  result->fields_[field].dtype = conversion.dtype;
  if (is_identity(whole, column.rows.dtype())) return result;
  result->columns_[field].converter.emplace("transform", column.rows.dtype(), fields_[field].shape,
                                            whole);
  return result;
}

}  // namespace thalweg::data
