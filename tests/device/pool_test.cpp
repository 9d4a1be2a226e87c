#include "device/pool.h"

#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <thalweg/device/memory.h>

#include "base/expect_error.h"

namespace thalweg {
namespace {

TEST(Pool, ClassesHoldWhatWasAskedForAndWasteAtMostAQuarter) {
  for (size_t bytes = 1; bytes < (size_t{1} << 34); bytes += 1 + bytes / 7) {
    const int c = pool::class_of(bytes);
    ASSERT_GE(pool::class_bytes(c), bytes);
    ASSERT_TRUE(c == 0 || pool::class_bytes(c - 1) < bytes);
    ASSERT_LE(pool::class_bytes(c), bytes + bytes / 4 + pool::kGranule);
  }
}

TEST(Pool, SaysThatThereIsNotSoMuchMemory) {
  for (const int exponent : {46, 52, 62}) {
    const std::string text = error_text(
        ErrorKind::unavailable, [&] { Storage::allocate(Device::cpu(), size_t{1} << exponent); });
    EXPECT_TRUE(text.starts_with("allocate: out of memory on cpu")) << text;
  }
}

TEST(Pool, GivesAlignedBlocksThatDoNotOverlap) {
  std::vector<IntrusivePtr<Storage>> blocks;
  for (size_t bytes : {0u, 1u, 63u, 64u, 65u, 1000u, 100000u, 3000000u}) {
    blocks.push_back(Storage::allocate(Device::cpu(), bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()->data()) % kAlignment, 0u);
    std::memset(blocks.back()->data(), static_cast<int>(blocks.size()), bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto* p = static_cast<unsigned char*>(blocks[i]->data());
    for (size_t k = 0; k < blocks[i]->bytes(); ++k) ASSERT_EQ(p[k], i + 1);
  }
}

TEST(Pool, BlocksOfAnEndedThreadServeOthers) {
  constexpr size_t kBytes = 777777;
  std::thread([&] { Storage::allocate(Device::cpu(), kBytes); }).join();
  const uint64_t before = memory_stats().system_allocations;
  const auto again = Storage::allocate(Device::cpu(), kBytes);
  EXPECT_EQ(memory_stats().system_allocations, before);
}

TEST(Pool, BlocksMoveFromThreadToThread) {
  for (int round = 0; round < 50; ++round) {
    std::vector<IntrusivePtr<Storage>> made(64);
    std::thread producer([&] {
      for (auto& block : made) block = Storage::allocate(Device::cpu(), 4096);
    });
    producer.join();
    std::thread([blocks = std::move(made)]() mutable { blocks.clear(); }).join();
  }
  release_cached_memory();
  SUCCEED();
}

TEST(Storage, CallsTheOwnerOfBorrowedMemoryOnce) {
  int released = 0;
  float values[4] = {1, 2, 3, 4};
  {
    const auto storage = Storage::borrow(
        Device::cpu(), values, sizeof values, [](void* count) { ++*static_cast<int*>(count); },
        &released);
    const auto second = storage;
    EXPECT_EQ(storage->data(), values);
  }
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace thalweg
