#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kron/state/record.h"

namespace kron {

// Records as they were written last, so that the next step of a job need not read and parse what this process has
// printed itself. Bounded: of jobs that run seldom nothing is kept, and a million of them cost nothing. Who has the
// state directory's lock is the only one to write records, so what is kept here is what the file says. Not for several
// threads.
class RecentRecords {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;  // of all texts together

  struct Recent {
    StateRecord record;
    std::string file;  // its name in the state directory
  };

  explicit RecentRecords(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // It is gone from here until it is kept again: what a write that fails leaves on the disk has to be read.
  std::optional<Recent> take(std::string_view identity);

  // It is durable, and its text has so many bytes. Those that were not written for the longest time go.
  void keep(Recent recent, std::size_t bytes);

  // Others than `keep` change files: what they say has to be read.
  void clear();

 private:
  struct Kept {
    Recent recent;
    std::size_t bytes;
  };
  using Place = std::list<Kept>::iterator;

  void drop(Place place);

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;                                // the one written last is last
  std::unordered_map<std::string_view, Place> places_;  // by identities in kept_
};

}  // namespace kron
