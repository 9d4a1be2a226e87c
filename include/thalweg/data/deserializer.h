#pragma once

// A format of data: what a corpus consists of, and how parts of it get into memory. A corpus is cut
// into chunks, a chunk holds whole sequences, and a sequence has one or more samples in each
// stream. To read a format of your own, derive from Deserializer and Chunk.

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <thalweg/base/export.h>
#include <thalweg/base/philox.h>
#include <thalweg/tensor/dtype.h>
#include <thalweg/tensor/shape.h>

namespace thalweg::data {

/// One value that samples have, such as "features" or "labels".
struct StreamInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape = {};     // of one sample; -1 for a size that differs from sequence to sequence
  bool sparse = false;  // samples are rows of shape [columns], of which few are not 0
  std::vector<std::string> class_names = {};  // what 0, 1, ... stand for, if they have names
};

/// What is known of a chunk before it is loaded.
struct ChunkInfo {
  int64_t sequences = 0;
  size_t bytes = 0;       // once loaded; an estimate, better too much than too little
  size_t load_bytes = 0;  // besides, while it is being loaded: raw text and the like
  int64_t samples = 0;    // 0: not known; only CNTK's order by samples asks for it
};

/// By what sequences of several deserializers are paired.
using SequenceKey = std::variant<uint64_t, std::string>;

/// "17" or "'speaker-3'", for error texts.
THALWEG_API std::string to_string(const SequenceKey& key);

/// Which sequence of the corpus is read, in which pass over it: what is random draws by both.
struct SequenceDraw {
  int64_t sequence = 0;  // its number in the corpus, chunk after chunk
  int64_t sweep = 0;
  uint64_t seed = 0;

  /// Random numbers that depend on these three and `stream` alone; the same as a transform sees.
  Philox random(uint64_t stream) const;
};

class TransformStep;

/// A transform of a stream, and where its random numbers come from.
struct ReadStep {
  std::shared_ptr<const TransformStep> transform;
  uint64_t group = 0;   // which of the source's StreamTransforms it belongs to
  uint64_t stream = 0;  // its number there

  /// What the transform would draw by for the sequence.
  Philox random(const SequenceDraw& draw) const;
};

/// The samples that a sequence has in a stream. Pointers are valid as long as `owner` or, where
/// that is null, the chunk.
struct StreamValues {
  int64_t samples = 0;           // -1: found to be bad while read, and dropped; see Chunk::length
  const void* values = nullptr;  // dense: row-major [samples, ...shape]; sparse: all stored values
  const int32_t* columns = nullptr;     // sparse: one per stored value
  const int64_t* row_starts = nullptr;  // sparse: sample i has the stored values from row_starts[i]
                                        // to row_starts[i + 1] - 1
  Shape shape = {};  // of one sample, where StreamInfo::shape has a -1; else not looked at
  std::shared_ptr<const void> owner = nullptr;
};

/// Sequences in memory, numbered 0, 1, ... Any thread may call any function.
class THALWEG_API Chunk {
 public:
  virtual ~Chunk() = default;

  /// Memory it holds.
  virtual size_t bytes() const = 0;

  /// Samples of its longest stream, or of the stream that counts; known also of a sequence that was
  /// not wanted. kDropped for one that was bad and is left out in all streams.
  virtual int64_t length(int64_t sequence) const = 0;
  static constexpr int64_t kDropped = -1;

  /// May do work, such as decoding a picture. What it throws reaches the user as it is, an Error
  /// with the sequence's place.
  virtual StreamValues read(int64_t sequence, size_t stream, const SequenceDraw& draw) const = 0;

  /// Where the sequence is from, such as "train.ctf:12" or "cat/17.jpg"; for error texts.
  virtual std::string where(int64_t sequence) const = 0;
};

/// Bad data that were dropped or noticed so far.
struct ReadProblems {
  int64_t errors = 0;
  int64_t warnings = 0;
  std::vector<std::string> messages = {};  // the first 20, each with its place
};

/// How the sequences of a corpus are named: by their number in it, or by keys that the data hold.
enum class KeyKind { position, number, text };

/// Any thread may call any const function. Errors name the file and the place in it.
class THALWEG_API Deserializer {
 public:
  virtual ~Deserializer() = default;

  /// What it is called in errors: the file or files.
  virtual std::string name() const = 0;
  virtual const std::vector<StreamInfo>& streams() const = 0;

  /// Chunks are to take at most `bytes` while loaded and loading, but hold at least one sequence.
  /// Called before the functions below, and again when a state is restored that was saved with
  /// other chunks; where chunks end is a function of the data and this number.
  virtual void limit_chunks(size_t /*bytes*/) {}

  /// Whether there is a chunk of this number. Looks no further into the data than it must, so that
  /// reading in order begins at once.
  virtual bool has_chunk(int64_t chunk) const = 0;
  /// Number of chunks; looks at all data if no index is there.
  virtual int64_t chunks() const = 0;
  virtual ChunkInfo chunk(int64_t chunk) const = 0;

  /// Sequences of a chunk; empty: all of them.
  using Wanted = std::vector<bool>;
  /// A chunk in memory. Nobody reads a sequence that is not wanted: of those, only length() and
  /// where() are asked, and what can skip them, on disk too, should.
  virtual std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted = {}) const = 0;
  /// Whether load() of a few sequences takes little more than reading these few, so that sequences
  /// can be read in any order.
  virtual bool loads_parts() const { return false; }

  /// The same data with the first `*taken` of a stream's steps made part of Chunk::read, where that
  /// saves work, such as decoding what a crop throws away; null if it can take none.
  virtual std::shared_ptr<Deserializer> absorb(size_t /*stream*/,
                                               const std::vector<ReadStep>& /*steps*/,
                                               size_t* /*taken*/) const {
    return nullptr;
  }

  virtual KeyKind key_kind() const { return KeyKind::position; }
  /// The sequence's key, from the index; asked if key_kind() is not position.
  virtual SequenceKey key(int64_t chunk, int64_t sequence) const;

  virtual ReadProblems problems() const { return {}; }
};

/// A deserializer of any class, shared by its copies.
class DeserializerHandle {
 public:
  DeserializerHandle(std::shared_ptr<Deserializer> deserializer)  // NOLINT: implicit
      : deserializer_(std::move(deserializer)) {}
  template <typename T>
  requires std::is_base_of_v<Deserializer, std::remove_cvref_t<T>> DeserializerHandle(
      T&& deserializer)  // NOLINT: implicit
      : deserializer_(std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(deserializer))) {}

  Deserializer& operator*() const { return *deserializer_; }
  Deserializer* operator->() const { return deserializer_.get(); }
  const std::shared_ptr<Deserializer>& shared() const { return deserializer_; }

 private:
  std::shared_ptr<Deserializer> deserializer_;
};

}  // namespace thalweg::data
