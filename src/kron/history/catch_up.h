#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kron/env/real_file_system.h"
#include "kron/history/archive.h"
#include "kron/history/state_files.h"

namespace kron::history {

// After a crash: what did not get into the journal is taken from the ledger's records, which hold the last outcomes of
// each job. Step by step, so that questions are answered in between. Used by one thread.
class CatchUp {
 public:
  // Notes durably, before anything is appended to the journal, since when it may lack something: a crash before the end
  // of the catching up begins it anew.
  static Result<std::unique_ptr<CatchUp>> begin(const std::string& state_directory, Journal& journal);

  bool is_done() const { return is_done_; }
  // Reads some records, or tells the archive, which must be ready, some of what they hold that is news. After a failure
  // it can be tried again.
  Status step(Archive& archive);
  std::size_t news() const { return news_; }
  // Of the jobs' records.
  Directory& state() { return *state_; }

 private:
  CatchUp() = default;

  Status note(Journal& journal);
  void read_some(const Archive& archive);
  Status tell_some(Archive& archive);
  Status end(Journal& journal);

  RealFileSystem file_system_;
  std::unique_ptr<Directory> state_;
  Instant since_;  // on the machine's clock
  std::optional<StateFiles> files_;
  std::vector<Entry> read_;  // the newest, and after the last file in the order of their times
  std::size_t told_ = 0;     // of read_
  std::size_t news_ = 0;
  bool is_done_ = false;
};

}  // namespace kron::history
