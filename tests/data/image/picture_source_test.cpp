// Pictures of a folder as minibatches, by several threads.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/data/image_files.h>
#include <thalweg/data/minibatch_source.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "data/formats/base64.h"
#include "data/image/pictures.h"
#include "data/threads_of_process.h"

namespace thalweg::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// pytorch/pytorch #30147: the sixth of eight is cut in half.
void write_eight(const TempDir& dir) {
  const std::string whole = *decode_base64(kRamps);
  for (int i = 1; i <= 8; ++i)
    dir.write(fmt::format("c/{}.jpg", i), i == 6 ? whole.substr(0, 700) : whole);
}

TEST(PictureSource, ABadPictureIsToldWithItsPathFromAnyThread) {
  const TempDir dir;
  write_eight(dir);
  const NoNewThreads threads;
  for (int workers : {0, 4}) {
    MinibatchSource source({ImageFolderDeserializer(dir.path())}, {.seed = 1, .workers = workers});
    int64_t whole = 0;
    EXPECT_THAT(error_text(ErrorKind::io,
                           [&] {
                             while (auto mb = source.next_minibatch(1)) ++whole;
                           }),
                AllOf(HasSubstr("the image ends early"), HasSubstr("c/6.jpg")));
    EXPECT_LT(whole, 8);
    EXPECT_THAT(error_text(ErrorKind::io, [&] { source.next_minibatch(8); }), HasSubstr("c/6.jpg"));
  }
  threads.check();
}

TEST(PictureSource, ABadPictureIsDroppedWhereThatIsAllowed) {
  const TempDir dir;
  write_eight(dir);
  for (int workers : {0, 4}) {
    MinibatchSource source({ImageFolderDeserializer(dir.path(), {.max_errors = 1})},
                           {.seed = 1, .max_sweeps = 2, .workers = workers});
    int64_t samples = 0;
    while (auto mb = source.next_minibatch(3)) {
      EXPECT_EQ(mb["image"].shape(), (Shape{mb.num_samples, 3, 40, 56}));
      samples += mb.num_samples;
    }
    EXPECT_EQ(samples, 14);
    EXPECT_EQ(source.statistics().problems.errors, 1);
  }
}

}  // namespace
}  // namespace thalweg::data
