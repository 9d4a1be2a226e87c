#pragma once

#include <string>

#include <thalweg/base/error.h>
#include <thalweg/data/image_files.h>

#include "data/formats/problem_log.h"
#include "data/image/jpeg.h"

namespace thalweg::data {

/// Makes the samples of an image stream from pictures' files. Any thread may call any function.
class ImageReader {
 public:
  explicit ImageReader(const ImageOptions& options);

  const StreamInfo& stream() const { return stream_; }

  /// One sample. A picture that cannot be read is dropped as the log allows, and has -1 samples;
  /// `place` is what the log knows it by, `where` is for its message. `encoded` gives the bytes.
  template <typename Encoded>
  StreamValues read(uint64_t place, const std::string& where, const SequenceDraw& draw,
                    ProblemLog& log, Encoded&& encoded) const {
    try {
      return decode(encoded(), place, where, draw, log);
    } catch (const Error& error) {
      drop(place, where, error, log);
    }
    StreamValues dropped;
    dropped.samples = -1;
    return dropped;
  }

 private:
  StreamValues decode(const std::string& bytes, uint64_t place, const std::string& where,
                      const SequenceDraw& draw, ProblemLog& log) const {
    return decode(as_bytes(bytes), place, where, draw, log);
  }
  StreamValues decode(Bytes bytes, uint64_t place, const std::string& where,
                      const SequenceDraw& draw, ProblemLog& log) const;
  void check_size(const ImageSize& size, const std::string& where) const;
  static void drop(uint64_t place, const std::string& where, const Error& error, ProblemLog& log);

  ImageOptions options_;
  StreamInfo stream_;
};

}  // namespace thalweg::data
