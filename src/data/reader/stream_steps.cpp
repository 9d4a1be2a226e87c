#include "data/reader/stream_steps.h"

#include <algorithm>

#include <thalweg/base/text.h>

#include "base/fail.h"

namespace thalweg::data {
namespace {

// Two sizes that no transform has for its own: where the outputs differ, the size is not fixed.
constexpr int64_t kSizes[] = {1009, 1013};

Shape with_size(const Shape& shape, int64_t size) {
  Shape result = shape;
  for (int64_t& d : result)
    if (d < 0) d = size;
  return result;
}

}  // namespace

StreamSteps::StreamSteps(const StreamInfo& stream, const std::vector<StreamTransform>& transforms,
                         uint64_t seed) {
  for (size_t group = 0; group < transforms.size(); ++group) {
    const StreamTransform& t = transforms[group];
    if (std::ranges::find(t.streams, stream.name) == t.streams.end()) continue;
    for (size_t i = 0; i < t.steps.size(); ++i)
      steps_.push_back({t.steps[i], derive_seed(seed, group), i});
  }
  if (!steps_.empty() && stream.sparse)
    fail_invalid("reader: stream '{}' is sparse; transforms are for dense streams", stream.name);
}

Field StreamSteps::run(Field field) const {
  for (const Step& step : steps_) field = step.transform->output(field);
  return field;
}

StreamInfo StreamSteps::output(const StreamInfo& stream) const {
  if (steps_.empty()) return stream;
  Field field = run({stream.name, stream.dtype, with_size(stream.shape, kSizes[0])});
  if (std::ranges::find(stream.shape, -1) != stream.shape.end()) {
    const Field other = run({stream.name, stream.dtype, with_size(stream.shape, kSizes[1])});
    for (size_t i = 0; i < field.shape.size(); ++i)
      if (i >= other.shape.size() || field.shape[i] != other.shape[i]) field.shape[i] = -1;
  }
  StreamInfo result = stream;
  result.dtype = field.dtype;
  result.shape = field.shape;
  return result;
}

Tensor StreamSteps::apply(Tensor rows, const std::vector<SampleKey>& keys) const {
  for (const Step& step : steps_)
    rows = step.transform->apply(rows, {keys, step.seed}, step.stream);
  return rows;
}

void check_transforms(const std::vector<StreamInfo>& streams,
                      const std::vector<StreamTransform>& transforms) {
  std::vector<std::string_view> names;
  for (const StreamInfo& stream : streams) names.push_back(stream.name);
  for (const StreamTransform& transform : transforms) {
    for (const std::string& name : transform.streams) {
      if (std::ranges::find(names, name) != names.end()) continue;
      fail_invalid("reader: a transform is for stream '{}'; there are '{}'{}", name,
                   fmt::join(names, "', '"), did_you_mean(name, names));
    }
    if (std::ranges::find(transform.steps, nullptr) != transform.steps.end())
      fail_invalid("reader: a transform of '{}' is null", fmt::join(transform.streams, "', '"));
  }
}

}  // namespace thalweg::data
