#pragma once

#include <string_view>

#include "kron/env/log.h"
#include "kron/history/pauses.h"
#include "kron/history/small_file.h"

namespace kron::history {

// The last pauses of jobs, in a file of the history's directory (docs/formats.md, "Pauses"). What cannot be written is
// told to the log once and written with the next change. Used by one thread.
class PauseFile {
 public:
  static constexpr std::string_view kName = "pauses.json";

  // All of these outlive it. Touches nothing yet.
  PauseFile(FileSystem& file_system, Directory& directory, Log& log)
      : file_(file_system, directory, kName), log_(log) {}

  void read();
  void begin(Pause pause);
  void end(std::string_view job, Instant at);
  // Durable when it returns, unless the log was told.
  void write_changes();

  const Pauses& all() const { return pauses_; }

 private:
  SmallFile file_;
  Log& log_;
  Pauses pauses_;
  bool is_changed_ = false;
  bool has_failed_ = false;  // and the log was told
};

}  // namespace kron::history
