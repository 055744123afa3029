#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kron/env/clock.h"
#include "kron/env/log.h"
#include "kron/history/small_file.h"
#include "kron/history/up_times.h"

namespace kron::history {

// When krond was up, in a file of the history's directory (docs/formats.md, "When krond was up"). What cannot be
// written is told to the log once and written with the next beat: nothing depends on it but the answer to "why". Used
// by one thread.
class UpFile {
 public:
  static constexpr std::string_view kName = "up.json";

  // All of these outlive it. Touches nothing yet.
  UpFile(FileSystem& file_system, Directory& directory, const Clock& clock, Log& log)
      : file_(file_system, directory, kName), clock_(clock), log_(log) {}

  // A krond begins: reads what the ones before it left, and notes its beginning.
  void begin();
  // It is up; written when the last time is UpTimes::kBetweenBeats ago. `busy`: for so long this thread had no time to
  // say so.
  void beat(Nanoseconds busy = Nanoseconds(0));
  Nanoseconds until_next_beat() const;
  // From then on it starts nothing. What comes later says nothing about it any more.
  void stop(Instant at);

  // Up to now.
  std::vector<UpTime> all();

 private:
  void note(Nanoseconds busy);
  void read();
  void write();

  SmallFile file_;
  const Clock& clock_;
  Log& log_;
  UpTimes times_;
  std::optional<Nanoseconds> written_at_;  // by the boot time
  bool is_stopped_ = false;
  bool has_failed_ = false;  // and the log was told
};

}  // namespace kron::history
