#pragma once

// The table of the formats of data, a row each. Whoever opens, checks or converts files of any
// format reads the rows.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <thalweg/data/deserializer.h>

namespace thalweg::data {

/// A stream as people write it: `[NAME=]FIELD:KIND:DIM[:WORD...]`, such as `F:dense:784` or
/// `labels=L:sparse:10:f64`. KIND is dense or sparse, DIM a number or sizes as 28x28, WORDs are a
/// dtype, and `counts` for the stream that alone says how long sequences are.
struct StreamSpec {
  std::string name;   // what minibatches call it
  std::string field;  // what the file calls it
  bool sparse = false;
  Shape shape = {};
  std::optional<DType> dtype =
      {};  // none: what the format takes by default, f32 for numbers in text
  bool counts_samples = false;

  int64_t dim() const;
};

/// Throws Error{invalid} that says what is wrong with it.
THALWEG_API StreamSpec parse_stream_spec(std::string_view text);
THALWEG_API std::string to_string(const StreamSpec& spec);

/// What to know of files besides what they say themselves.
struct FormatOptions {
  std::vector<StreamSpec> streams = {};
  bool compat = false;      // faults and leniency of the reader the format is from
  int64_t max_errors = 0;   // bad records that are dropped; one more is an error
  bool keep_index = false;  // write the index also of a small file
  std::string index_folder = {};
  /// By the names in Format::options.
  std::map<std::string, std::string> more = {};
};

/// Takes sequences one after the other and makes a file of them.
class SequenceWriter {
 public:
  virtual ~SequenceWriter() = default;

  /// One StreamValues per stream. Throws Error{invalid} for what the format cannot hold.
  virtual void write(const SequenceKey& key, std::span<const StreamValues> values) = 0;

  /// Once, as the last call; the file is there as a whole from then on.
  virtual void commit() = 0;
};

/// What a file to be written is to hold.
struct WriteOptions {
  std::vector<StreamInfo> streams = {};
  KeyKind key_kind = KeyKind::position;
  std::map<std::string, std::string> more = {};  // by the names in Format::write_options
};

/// An option of one format alone, its value a text.
struct FormatOption {
  const char* name;
  const char* doc;
};

/// A row of the table.
struct Format {
  const char* name;
  const char* doc;                               // a line
  std::vector<const char*> extensions;           // with the dot, such as ".ctf"
  std::vector<FormatOption> options = {};        // FormatOptions::more
  std::vector<FormatOption> write_options = {};  // WriteOptions::more
  bool needs_streams = false;                    // the files do not say what is in them
  bool joins_files = false;                      // open() takes a pattern for many files itself
  bool holds_keys = true;                        // else sequences are numbered when written

  /// What streams a file that does not say it seems to have; null: nothing can be said.
  std::vector<StreamSpec> (*guess_streams)(const std::string& path) = nullptr;
  std::shared_ptr<Deserializer> (*open)(const std::string& path,
                                        const FormatOptions& options) = nullptr;
  std::unique_ptr<SequenceWriter> (*create)(const std::string& path,
                                            const WriteOptions& options) = nullptr;  // null: no way
};

THALWEG_API std::span<const Format> formats();

/// The row of this name or, if it is empty, the one that the path's extension tells, without .gz
/// and .zst. Throws Error{invalid} that lists the names.
THALWEG_API const Format& find_format(const std::string& path, const std::string& name = "");

/// Opens files of a format, `path` being one or a pattern such as "data/*.ctf". Throws
/// Error{invalid} for options that the format does not have.
THALWEG_API std::shared_ptr<Deserializer> open_corpus(const Format& format, const std::string& path,
                                                      const FormatOptions& options = {});

}  // namespace thalweg::data
