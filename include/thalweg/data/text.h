#pragma once

// Plain text for language models: a stream of tokens, each a sample.

#include <string>
#include <vector>

#include <thalweg/data/wrapped_deserializer.h>

namespace thalweg::data {

/// What a sequence is: a line, or so many bytes whatever they are.
enum class TextUnit { lines, blocks };

/// What a sample is: a byte (u8), a code point of Unicode (i32), or a word between blanks by its
/// number in a vocabulary (i64).
enum class TextTokens { bytes, characters, words };

/// What becomes of bytes that are not UTF-8: the line is bad, each such part becomes U+FFFD, or
/// they are left as they are (bytes only).
enum class BadUtf8 { reject, replace, keep };

struct TextOptions {
  TextUnit unit = TextUnit::lines;
  int64_t block_bytes = 1024;                // of a block; the last one may be shorter
  TextTokens tokens = TextTokens::bytes;     // of lines; blocks are bytes
  BadUtf8 bad_utf8 = BadUtf8::reject;        // in lines; blocks are kept
  std::vector<std::string> vocabulary = {};  // words 0, 1, ...
  std::string unknown = {};   // the word that others count as; "": others make the line bad
  std::string name = "text";  // of the stream
  int64_t max_errors = 0;     // bad lines that are dropped; one more is an error
};

/// Reads a text file, plain, gzip or zstd, a chunk at a time: one stream of tokens []. Line ends
/// (LF or CR LF) are not part of lines; lines without a token are left out. A byte-order mark of
/// UTF-8 at the start is left out, one of UTF-16 is an error.
class THALWEG_API TextDeserializer final : public WrappedDeserializer {
 public:
  explicit TextDeserializer(const std::string& path, TextOptions options = {});
};

/// The lines of a file: a vocabulary.
THALWEG_API std::vector<std::string> read_vocabulary(const std::string& path);

}  // namespace thalweg::data
