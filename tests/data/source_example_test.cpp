// The example of docs/data.md, word for word but for the file.

#include <gtest/gtest.h>

#include <thalweg/thalweg.h>

#include "base/temp_dir.h"

namespace tw = thalweg;
using namespace thalweg::literals;

TEST(SourceExample, TrainsFromCtf) {
  const thalweg::TempDir folder;
  folder.write("train.ctf", "|F 1 2 3 |L 1:1\n|F 4 5 6 |L 0:1\n|F 7 8 9 |L 3:1\n");
  auto source = tw::data::MinibatchSource(
      {tw::data::CTFDeserializer(folder / "train.ctf",
                                 {{.name = "features", .field = "F", .dim = 3},
                                  {.name = "labels", .field = "L", .dim = 10, .sparse = true}})},
      {.randomize = true, .memory_limit = 512_MiB, .seed = 7});
  int64_t samples = 0;
  while (auto mb = source.next_minibatch(2)) {
    EXPECT_EQ(mb["features"].shape(), (tw::Shape{mb.num_samples, 3}));
    EXPECT_EQ(mb["labels"].shape(), (tw::Shape{mb.num_samples, 10}));
    EXPECT_EQ(mb.num_sequences, mb.num_samples);
    samples += mb.num_samples;
    EXPECT_EQ(mb.end_of_sweep, samples == 3);
  }
  EXPECT_EQ(samples, 3);
}
