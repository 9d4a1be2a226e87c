#pragma once

// CBF, the CNTK Binary Format, version 1. All numbers have their lowest byte first.
//
//   u64 6E69625F6B746E63 ("cntk_bin"), u32 version; the chunks, one after the other; the header;
//   i64 place of the header. Header: the magic again, u32 chunks, u32 streams; for each stream u8 1
//   if sparse, u32 length of the name, the name, u8 1 for f64 and 0 for f32, u32 values of a
//   sample; for each chunk i64 place, u32 sequences, u32 samples. Chunk: u32 samples of each
//   sequence's longest stream; then stream after stream, sequence after sequence: u32 samples n,
//   and the values, or, sparse, i32 stored values, these, their columns as i32, and for each sample
//   i32 how many are its.

#include <memory>
#include <string>
#include <vector>

#include <thalweg/data/wrapped_deserializer.h>

namespace thalweg::data {

/// A stream of a CBF file, to be read under another name.
struct CbfStream {
  std::string name;
  std::string field = {};  // what the file calls it; empty: the same
};

/// Reads a CBF file. Chunks are those of the file, small ones joined. Whatever does not fit
/// together is an Error{io} with the byte.
class THALWEG_API CBFDeserializer final : public WrappedDeserializer {
 public:
  /// No streams: all that the file has. Throws Error{invalid} for one that it has not.
  explicit CBFDeserializer(const std::string& path, const std::vector<CbfStream>& streams = {});
};

}  // namespace thalweg::data
