#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kron/history/entry.h"

namespace kron::history {

using Length = std::chrono::milliseconds;  // of a run

// How an entry looks in a row of outcomes: `+` succeeded, `x` failed, `t` timed out, `?` ended nobody knows how,
// `s` skipped, `m` missed, `n` no time, `o` periods passed over, `r` running.
char letter_of(const Entry& entry);
inline constexpr std::string_view kLetters = "+xt?smnor";

// Of a run that has ended.
std::optional<Length> length_of(const Entry& entry);
// Of a run that succeeded: only these tell how long it usually takes.
std::optional<Length> length_of_success(const Entry& entry);

inline constexpr std::size_t kRecent = 20;  // outcomes of a job that are kept at hand, and lengths

// How long a run usually takes: the median of the lengths of succeeded runs. Nothing when there are fewer than five.
std::optional<Length> usual_length(std::vector<Length> lengths);

// Whether these outcomes are such that somebody may have to look: the last run did not succeed, or the last period was
// missed, skipped or without a time.
bool may_be_bad(std::string_view letters);

// What is at hand of a job.
struct Recent {
  std::string letters = {};  // of its last outcomes, at most kRecent, the oldest first
  std::optional<Length> usual = {};

  bool operator==(const Recent&) const = default;
};

// One entry, as far as this needs it.
struct Brief {
  std::string_view job;
  std::int64_t number = 0;
  char letter = '?';
  std::optional<Length> success = {};  // length_of_success
};
Brief brief_of(const Entry& entry);

// The last outcomes of every job that the history knows, in memory: some 150 bytes each. Used by one thread.
class RecentOutcomes {
 public:
  // An entry that is new, or has changed. The numbers of those that are new grow. False: one has changed that is not at
  // hand, or not in a way that is expected; then forget(job), and add all of its entries again.
  bool add(const Brief& entry);
  void forget(std::string_view job);
  void clear() { jobs_.clear(); }

  Recent of(const std::string& job) const;
  // Those whose outcomes may_be_bad(), in the order of their names.
  std::vector<std::string> bad_jobs() const;
  std::size_t jobs() const { return jobs_.size(); }

 private:
  struct Running {
    std::int64_t number;
    std::uint64_t position;
  };
  struct OfJob {
    std::string letters;                 // a ring once it is full
    std::vector<std::uint32_t> lengths;  // in milliseconds, a ring once it is full
    std::uint64_t letters_added = 0;     // ever
    std::uint64_t lengths_added = 0;
    std::int64_t last_number = 0;
    std::vector<Running> running;

    bool end_running(const Brief& entry);
    void add_letter(char letter);
    void add_length(const std::optional<Length>& length);
    std::string in_order() const;
  };

  std::unordered_map<std::string, OfJob> jobs_;
};

}  // namespace kron::history
