#include <array>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include <thalweg/base/error.h>
#include <thalweg/base/file.h>
#include <thalweg/train/events.h>

#include "train/append_file.h"
#include "train/event_record.h"

namespace thalweg::train {
namespace {

constexpr size_t kMaxKept = 64 << 10;  // bytes
constexpr double kMaxWait = 5;         // seconds

double unix_time() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// TensorBoard reads the files of a folder in the order of their names, hence the time with all
// digits.
std::string new_file_name(const std::string& folder) {
  using namespace std::chrono;
  const int64_t now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  return fmt::format("{}/events.out.tfevents.{:010}.{:06}.{}.{}", folder, now / 1000000,
                     now % 1000000, host_name(), getpid());
}

// The length of the sound records up to `step`.
int64_t kept_bytes(std::string_view bytes, int64_t step) {
  std::string_view left = bytes;
  size_t kept = 0;
  while (const std::optional<std::string_view> message = next_record(left)) {
    const std::optional<int64_t> at = step_of_event(*message);
    if (!at || *at > step) break;
    kept = bytes.size() - left.size();
  }
  return static_cast<int64_t>(kept);
}

}  // namespace

class EventWriter::State {
 public:
  explicit State(const std::string& folder)
      : file_(new_file_name(folder), AppendFile::Mode::create), last_flush_(unix_time()) {}

  // A destructor must not throw; whoever wants to know calls flush().
  ~State() {
    try {
      flush();
    } catch (const Error&) {
    }
  }

  void add(double now, const std::string& message) {
    kept_ += frame_record(message);
    if (kept_.size() >= kMaxKept || now - last_flush_ >= kMaxWait) flush();
  }

  void flush() {
    last_flush_ = unix_time();
    if (kept_.empty()) return;
    file_.append(kept_);
    kept_.clear();
  }

  AppendFile& file() { return file_; }

 private:
  AppendFile file_;
  std::string kept_;
  double last_flush_;
};

EventWriter::EventWriter(const std::string& folder, int64_t resumed_at)
    : state_(std::make_unique<State>(folder)) {
  const double now = unix_time();
  state_->add(now, version_event(now));
  if (resumed_at >= 0) state_->add(now, restart_event(now, resumed_at + 1));
  state_->flush();
}

EventWriter::~EventWriter() = default;
EventWriter::EventWriter(EventWriter&&) noexcept = default;
EventWriter& EventWriter::operator=(EventWriter&&) noexcept = default;

void EventWriter::scalars(std::string_view group, int64_t step, const Figures& figures) {
  const double now = unix_time();
  state_->add(now, scalars_event(now, step, group, figures));
}

void EventWriter::text(std::string_view tag, int64_t step, std::string_view text) {
  const double now = unix_time();
  state_->add(now, text_event(now, step, tag, text));
}

void EventWriter::flush() { state_->flush(); }

void EventWriter::sync() {
  state_->flush();
  state_->file().sync();
}

const std::string& EventWriter::path() const { return state_->file().path(); }

void truncate_events(const std::string& folder, int64_t step) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name.find("tfevents") == name.npos) continue;
    const std::string bytes = read_file(entry.path().string());
    const int64_t kept = kept_bytes(bytes, step);
    if (kept < static_cast<int64_t>(bytes.size()))
      AppendFile(entry.path().string(), AppendFile::Mode::existing).truncate(kept);
  }
}

}  // namespace thalweg::train
