#pragma once

// Event files that TensorBoard reads: TFRecords of Event messages, encoded here, so that no
// protobuf library is needed. One writer a run, one thread at a time.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <thalweg/base/export.h>
#include <thalweg/train/figures.h>

namespace thalweg::train {

/// Writes one file, events.out.tfevents.<time>.<host>.<process>. Events are kept back for up to
/// five seconds or 64 KiB. Throws Error io if the file cannot be made or written; nothing of what
/// it holds is lost then.
class THALWEG_API EventWriter {
 public:
  /// Makes the file in `folder`. A run that goes on after step `resumed_at` says so in the file,
  /// upon which a TensorBoard that is watching forgets what it had seen beyond.
  explicit EventWriter(const std::string& folder, int64_t resumed_at = -1);
  ~EventWriter();
  EventWriter(EventWriter&&) noexcept;
  EventWriter& operator=(EventWriter&&) noexcept;

  /// One event with a scalar `<group>/<name>` for each figure; TensorBoard keeps them as f32.
  void scalars(std::string_view group, int64_t step, const Figures& figures);

  /// A text, which TensorBoard shows as Markdown.
  void text(std::string_view tag, int64_t step, std::string_view text);

  /// Hands everything to the operating system: it survives the end of this process.
  void flush();

  /// flush(), and everything to the disk: it survives a power cut.
  void sync();

  const std::string& path() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Cuts every event file of `folder` before the first event after `step`, and before a record that
/// is torn or damaged. Throws Error io if a file cannot be read or cut.
THALWEG_API void truncate_events(const std::string& folder, int64_t step);

}  // namespace thalweg::train
