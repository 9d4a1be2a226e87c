#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thalweg/model/safetensors.h>

#include "base/expect_error.h"
#include "base/temp_dir.h"
#include "model/sample_tensors.h"

namespace thalweg::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* const kReference = THALWEG_TEST_FOLDER "/fixtures/reference.safetensors";

void expect_same(const Tensor& a, const Tensor& b, const std::string& name) {
  ASSERT_EQ(a.dtype(), b.dtype()) << name;
  ASSERT_EQ(a.shape(), b.shape()) << name;
  visit_dtype(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_half(dtype_of<T>)) {
      EXPECT_EQ(a.to(DType::f32).to_vector<float>(), b.to(DType::f32).to_vector<float>()) << name;
    } else {
      EXPECT_EQ(a.to_vector<T>(), b.to_vector<T>()) << name;
    }
  });
}

TEST(Safetensors, ReadsAFileOfTheReferenceLibrary) {
  const SafetensorsFile file(kReference);
  EXPECT_EQ(file.metadata(), sample_metadata());
  const NamedTensors expected = sample_tensors(), found = file.read_all();
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) expect_same(found.at(name), tensor, name);
}

TEST(Safetensors, WritesTheBytesOfTheReferenceLibrary) {
  const TempDir dir;
  save_safetensors(dir / "a.safetensors", sample_tensors(), sample_metadata());
  EXPECT_EQ(dir.read("a.safetensors"), read_file(kReference));
}

TEST(Safetensors, WritesViewsInRowMajorOrder) {
  const TempDir dir;
  const Tensor x = Tensor::of({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  save_safetensors(dir / "a", {{"t", x.transpose()}});
  EXPECT_EQ(SafetensorsFile(dir / "a").read("t").to_vector<float>(),
            (std::vector<float>{1, 3, 2, 4}));
}

TEST(Safetensors, KeepsBfloat16) {
  const TempDir dir;
  save_safetensors(dir / "a", {{"t", Tensor::of({1.5f, -3e38f}).to(DType::bf16)}});
  const Tensor found = SafetensorsFile(dir / "a").read("t");
  EXPECT_EQ(found.dtype(), DType::bf16);
  EXPECT_EQ(found.to(DType::f32).to_vector<float>()[0], 1.5f);
}

TEST(Safetensors, HoldsNoTensorsAtAll) {
  const TempDir dir;
  save_safetensors(dir / "a", {});
  EXPECT_TRUE(SafetensorsFile(dir / "a").entries().empty());
}

TEST(Safetensors, NamesTheNearestTensor) {
  const SafetensorsFile file(kReference);
  EXPECT_THAT(error_text(ErrorKind::io, [&] { file.read("0.wieght"); }),
              HasSubstr("there is no tensor '0.wieght' in " + std::string(kReference) +
                        "; did you mean '0.weight'?"));
}

TEST(Safetensors, RefusesNamesThatAFileCannotHold) {
  const TempDir dir;
  for (const char* name : {"", "__metadata__", "\xff"}) {
    EXPECT_THROW(save_safetensors(dir / "a", {{name, Tensor::ones({1})}}), Error) << name;
  }
  EXPECT_THAT(error_text(ErrorKind::invalid,
                         [&] {
                           save_safetensors(dir / "a", {{"t", Tensor()}});
                         }),
              HasSubstr("'t' is an undefined tensor"));
}

TEST(Safetensors, LeavesTheOldFileWhenWritingFails) {
  const TempDir dir;
  save_safetensors(dir / "a", {{"t", Tensor::ones({1})}});
  EXPECT_THROW(save_safetensors(dir / "a", {{"t", Tensor()}}), Error);
  EXPECT_EQ(SafetensorsFile(dir / "a").read("t").item<float>(), 1);
  EXPECT_THROW(save_safetensors(dir / "no/such/folder/a", {}), Error);
}

TEST(Safetensors, SaysThatAFileIsMissing) {
  EXPECT_THAT(error_text(ErrorKind::io, [] { SafetensorsFile("/no/such.safetensors"); }),
              HasSubstr("/no/such.safetensors"));
}

}  // namespace
}  // namespace thalweg::model
