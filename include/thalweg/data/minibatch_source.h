#pragma once

// Minibatches of a corpus of any size, in bounded memory, in an order that depends on the data, the
// seed and the options that say how to shuffle: not on ranks, threads or restarts.
//
//   MinibatchSource source({CTFDeserializer("train.ctf", ...)},
//                          {.randomize = true, .memory_limit = 512_MiB, .seed = 7});
//   while (auto mb = source.next_minibatch(64)) step(mb["features"], mb["labels"]);

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/data/minibatch.h>
#include <thalweg/data/transforms.h>

namespace thalweg {

inline namespace literals {
constexpr size_t operator""_KiB(unsigned long long n) { return n << 10; }
constexpr size_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr size_t operator""_GiB(unsigned long long n) { return n << 30; }
}  // namespace literals

}  // namespace thalweg

namespace thalweg::data {

/// How a randomizing source mixes. The first is for data of any size: chunks in random order, and
/// the sequences of as many chunks as memory holds among each other. Data that fit are mixed whole.
/// The second mixes all sequences whatever their number, and reads each by itself; the format must
/// be able to. The third is CNTK's order for the same chunks.
enum class Shuffle { window, corpus, cntk };

/// What a minibatch's size counts. Sequences are never cut (but see Packing::truncated): a
/// minibatch is filled with whole ones while it does not exceed its size, and has at least one.
enum class SizeUnit { samples, sequences };

/// How sequences lie in a tensor; see StreamBatch.
enum class Packing { samples, padded, truncated };

/// What becomes of sequences that do not fill a minibatch at the end of a sweep. Ranks always get
/// the same number of minibatches.
enum class SweepEnd {
  join,   // a smaller minibatch; ranks for which nothing is left take part with 0 samples
  drop,   // left out
  pad,    // filled up by repeating them, until all ranks have the same number of sequences
  cross,  // filled up from the next sweep, as CNTK does
};

/// Steps for streams; streams named together get the same random numbers, e.g. an image and its
/// mask the same crop.
struct StreamTransform {
  std::vector<std::string> streams;
  std::vector<Transform> steps;
};

struct MinibatchSourceOptions {
  bool randomize = true;  // else in the order of the data, without looking ahead in them
  Shuffle shuffle = Shuffle::window;
  size_t memory_limit = size_t{1} << 30;  // bytes of all that the source holds: chunks, text that
                                          // is being parsed, minibatches made ahead
  std::optional<uint64_t> seed = {};  // of order and transforms; unset: the default random state's
  int64_t max_sweeps = 1;             // passes over the data; 0: without end
  int64_t max_samples = 0;            // the last sequence begins before so many; 0: no limit
  SizeUnit size_unit = SizeUnit::samples;
  SweepEnd sweep_end = SweepEnd::join;
  Packing packing = Packing::samples;
  int64_t bucket_sequences = 0;  // > 0: minibatches are cut from so many sequences sorted by
                                 // length, and given out in random order
  int64_t truncation = 0;        // truncated: samples T of a slot in a minibatch
  int workers = 1;               // threads that load chunks, and as many that make minibatches, as
                                 // does who waits for one; 0: all is done in next_minibatch
  int64_t cache_size = 0;        // minibatches made ahead, at most; 0: what memory_limit allows
  int64_t rank = 0;              // of `world_size` sources that share each minibatch: every
  int64_t world_size = 1;        // sequence goes to exactly one of them
  std::vector<StreamTransform> transforms = {};
  /// Per sequence of the corpus: a sweep draws with these weights, with replacement.
  std::vector<double> weights = {};
  /// As CNTK: each rank fills its share of the size by itself, with those of the order's sequences
  /// that are its own. Ranks may then differ in their number of minibatches, and a state is for the
  /// rank that gave it.
  bool fill_by_rank = false;
  int64_t cntk_window_chunks = 128;  // of Shuffle::cntk
  int64_t cntk_window_samples = 0;   // in place of chunks, if not 0
};

/// What a source did so far, and where the time went. Seconds are summed over threads.
struct SourceStatistics {
  double load_seconds = 0;       // reading and parsing chunks
  double make_seconds = 0;       // making minibatches from them, decoding included
  double transform_seconds = 0;  // part of it
  double wait_seconds = 0;       // the caller waited for a minibatch
  int64_t chunks = 0;            // loaded
  int64_t minibatches = 0;       // given out
  int64_t samples = 0;           // in them
  int64_t sequences = 0;
  size_t held_bytes = 0;  // by chunks and minibatches now
  size_t most_bytes = 0;  // ever
  ReadProblems problems = {};
};

/// One thread may use it at a time.
class THALWEG_API MinibatchSource {
 public:
  /// The first deserializer's sequences are read; those of the others with the same key, or number
  /// where no deserializer has keys, are joined to them. Throws Error{invalid} for options that do
  /// not fit, and for sequences without partner.
  explicit MinibatchSource(std::vector<DeserializerHandle> deserializers,
                           MinibatchSourceOptions options = {});
  MinibatchSource(MinibatchSource&&) noexcept;
  MinibatchSource& operator=(MinibatchSource&&) noexcept;
  ~MinibatchSource();

  /// The next minibatch of `size` samples or sequences, of all ranks together; false after the
  /// last. What went wrong while it was made is thrown, with the place in the data.
  Minibatch next_minibatch(int64_t size);

  /// Where the source stands after the minibatch given last, as JSON of a few hundred bytes.
  std::string checkpoint() const;
  /// Goes on from there, also with another number of ranks, workers or bytes. Reads nothing that
  /// came before. Throws Error{invalid} for a state of other data or another order.
  void restore(std::string_view state);

  /// Goes to the start of a sweep, from 0.
  void start_sweep(int64_t sweep);

  /// Names, dtypes and shapes as minibatches have them.
  const std::vector<StreamInfo>& streams() const;
  /// What the data are called in errors.
  std::string name() const;
  /// Sequences of a sweep; indexes all data.
  int64_t num_sequences() const;
  /// Samples of a sweep; sequences, where the format does not know without reading them.
  int64_t num_samples() const;
  /// The sweep of the next minibatch, from 0.
  int64_t sweep() const;
  SourceStatistics statistics() const;
  const MinibatchSourceOptions& options() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::data
