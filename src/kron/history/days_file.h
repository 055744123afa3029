#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "kron/env/file_system.h"
#include "kron/history/index.h"

namespace kron::history {

inline constexpr std::chrono::days kDaysKept{400};
inline constexpr std::size_t kMostDayLines = 2'000'000;

// history/days.jsonl: one line for each job and day on which something became of it, kept when its entries are
// forgotten. The totals are counted in the index, with the entries, and written here once their day is over; a line
// that is written again, because something of that day was learnt later, holds. What was lost with the index is read
// back from here. Used by one thread.
class DaysFile {
 public:
  // `directory` and `file_system` outlive it. `most`: lines.
  DaysFile(FileSystem& file_system, Directory& directory, std::size_t most = kMostDayLines)
      : file_system_(file_system), directory_(directory), most_(most) {}

  // Tells the index what it does not know of the file: all of it when it was made anew, nothing otherwise. Before the
  // journal is read: entries of days that came from here are counted in them already.
  Status read_into(Index& index);

  // Writes what is counted of days before `today` and not written yet; durable when it succeeds.
  Status write_from(Index& index, std::chrono::sys_days today);

  // Forgets days that are too old or too many, and writes the file anew when most of it is of no use any more.
  Status expire(Index& index, std::chrono::sys_days today);

 private:
  Status append(Index& index, const std::vector<DayTotals>& totals);
  Status open();
  Status write_anew(Index& index);
  Status sync(File& file);

  FileSystem& file_system_;
  Directory& directory_;
  std::size_t most_;
  std::unique_ptr<File> file_;
};

}  // namespace kron::history
