#pragma once

// CTF, the CNTK Text Format: rows of samples, `12 |features 0.5 1 0 |labels 3:1 |# a remark`.
// Rows with the same id are one sequence; where rows have no ids, each is a sequence of its own.

#include <memory>
#include <string>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// A stream of a CTF file.
struct CtfStream {
  std::string name = {};        // what minibatches call it
  std::string field = {};       // what the file calls it, any UTF-8; empty: the same
  int64_t dim = 0;              // values of a sample
  bool sparse = false;          // `index:value` pairs in place of all `dim` values
  DType dtype = DType::f32;     // f32 or f64
  bool counts_samples = false;  // alone says how long sequences are (CNTK's definesMBSize)
  Shape shape = {};             // of a sample, if not [dim]; dense only
};

/// Whether the places of a file's sequences are kept in another file, so that they need not be
/// looked for the next time. `automatic` keeps those of files of 8 MiB or more.
enum class IndexFile { automatic, always, never };

struct CtfOptions {
  bool compat = false;             // read as CNTK's own reader does, its leniency and warnings too
  int64_t max_errors = 0;          // bad records of a file that are dropped; one more is an error
  bool skip_sequence_ids = false;  // every row is a sequence, whatever id it has
  size_t chunk_bytes = 0;          // of text, at most; 0: 8 MiB, in compat mode 32 MiB as in CNTK
  IndexFile index = IndexFile::automatic;
  std::string index_folder = {};  // where indexes are kept; empty: beside the data
  /// Keep in memory where each sequence is, 40 bytes for one, so that Shuffle::corpus and weights
  /// read them one by one where the data do not fit. For plain files, without compat, max_errors
  /// and a stream that counts samples.
  bool single_sequences = false;
};

/// Reads CTF files, plain or gzip, several as one corpus in their order.
///
/// A row is `[id] {|field values} {|# remark}`. A dense sample has exactly `dim` numbers, a sparse
/// one any number of `index:value`; numbers are decimal, with or without sign, point and exponent,
/// and finite. Fields that no stream asks for are skipped, blank rows and remarks too. Anything
/// else is a bad record: the row's whole sequence is dropped in all streams, counted, and told with
/// file, line and column; more than `max_errors` in a file are an error of kind io.
///
/// A file's index is written once all of the file was looked at, and used as long as size and time
/// of the file stay the same; an index that CNTK left beside the file (`*.v1.cache`) will do, too.
class THALWEG_API CTFDeserializer final : public Deserializer {
 public:
  /// `path` may be a pattern such as "data/*.ctf". Throws Error{invalid} for streams that do not
  /// fit together and Error{io} for files that are not there or empty.
  CTFDeserializer(const std::string& path, std::vector<CtfStream> streams, CtfOptions options = {});
  CTFDeserializer(const std::vector<std::string>& paths, std::vector<CtfStream> streams,
                  CtfOptions options = {});
  ~CTFDeserializer() override;
  CTFDeserializer(CTFDeserializer&&) noexcept;
  CTFDeserializer& operator=(CTFDeserializer&&) noexcept;

  std::string name() const override;
  const std::vector<StreamInfo>& streams() const override;
  void limit_chunks(size_t bytes) override;
  bool has_chunk(int64_t chunk) const override;
  int64_t chunks() const override;
  ChunkInfo chunk(int64_t chunk) const override;
  std::shared_ptr<const Chunk> load(int64_t chunk, const Wanted& wanted = {}) const override;
  bool loads_parts() const override;
  KeyKind key_kind() const override;
  SequenceKey key(int64_t chunk, int64_t sequence) const override;
  ReadProblems problems() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::data
