#pragma once

#include <string>

#include <thalweg/base/error.h>
#include <thalweg/data/image_files.h>

#include "data/formats/problem_log.h"
#include "data/image/jpeg.h"
#include "data/image/window_step.h"

namespace thalweg::data {

/// Makes the samples of an image stream from pictures' files. Any thread may call any function.
class ImageReader {
 public:
  explicit ImageReader(const ImageOptions& options);

  const StreamInfo& stream() const { return stream_; }

  /// Takes the first steps into read(): one that takes a part of the picture, one that mirrors it,
  /// or both. Returns how many.
  size_t absorb(const std::vector<ReadStep>& steps);

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
  bool is_absorbing() const { return window_.transform || mirror_.transform; }
  Window draw_window(const ImageSize& size, const SequenceDraw& draw) const;
  StreamValues decode_window(Bytes bytes, const ImageSize& size, const Window& window,
                             uint64_t place, const std::string& where, ProblemLog& log) const;
  static void drop(uint64_t place, const std::string& where, const Error& error, ProblemLog& log);

  ImageOptions options_;
  StreamInfo stream_;
  ReadStep window_;  // a WindowStep, or none
  ReadStep mirror_;  // a MirrorStep, or none
};

}  // namespace thalweg::data
