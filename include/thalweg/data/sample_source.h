#pragma once

// Where samples come from: the interface behind Dataset. To make a data set of your own, derive
// from SampleSource and give it to a Dataset.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <thalweg/base/export.h>
#include <thalweg/base/philox.h>
#include <thalweg/tensor/tensor.h>

namespace thalweg::data {

/// One value that every sample has, such as "data" or "label".
struct Field {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // of one sample
};

/// Which sample, and in which pass over the data: random transforms draw by both.
struct SampleKey {
  int64_t index = 0;
  int64_t epoch = 0;

  friend bool operator==(const SampleKey&, const SampleKey&) = default;
};

/// The samples of a batch, in order.
struct Request {
  std::span<const SampleKey> samples;
  uint64_t seed = 0;

  size_t size() const { return samples.size(); }
  /// Random numbers for sample `i` of the request. They depend on the seed, the sample's index and
  /// epoch, and `stream`; not on the batch, the thread or what was drawn before.
  Philox random(size_t i, uint64_t stream) const {
    constexpr uint64_t kSampleStream = 0x1DA7A;
    return Philox(
        derive_seed(derive_seed(seed, static_cast<uint64_t>(samples[i].epoch), kSampleStream),
                    static_cast<uint64_t>(samples[i].index), kSampleStream),
        stream);
  }
};

/// value * scale + shift, computed in f32 or better and converted to `dtype`. `scale` and `shift`
/// have one entry, or one per index of the sample's first axis (its channels).
struct Conversion {
  DType dtype = DType::f32;
  std::vector<double> scale = {1};
  std::vector<double> shift = {0};
};

class THALWEG_API SampleSource {
 public:
  virtual ~SampleSource() = default;

  /// What it is called in errors.
  virtual std::string name() const = 0;
  virtual int64_t size() const = 0;
  virtual const std::vector<Field>& fields() const = 0;

  /// One row-major tensor on the cpu per field, [request.size(), ...field.shape], new ones each
  /// time. Indices are in [0, size()). Several threads may call it at once.
  virtual std::vector<Tensor> gather(const Request& request) const = 0;

  /// What the labels 0, 1, ... stand for; empty if they have no names.
  virtual const std::vector<std::string>& class_names() const;

  /// The same samples with a field converted as part of gather, where that saves a pass over the
  /// values; null if it does not.
  virtual std::shared_ptr<const SampleSource> converted(size_t field,
                                                        const Conversion& conversion) const;
};

}  // namespace thalweg::data
