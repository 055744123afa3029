#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kron/base/instant.h"

// What `kron top` shows, as values and as one text. Pure.
namespace kron::cli {

struct TopData {
  struct Need {
    std::string name;  // of a job, a file, or empty
    std::string what;
  };
  struct Run {
    std::string job;
    std::string run_id;
    Instant started = {};
    std::optional<Seconds> usual = {};
  };
  struct Start {
    std::string job;
    Instant at = {};
    Instant window_start = {};  // equal to its end: there is no window
    Instant window_end = {};
  };

  Instant now = {};
  std::string sentence = {};  // krond in a few words
  std::string problem = {};   // why what follows is old; empty: it is not
  bool knows_needs = true;    // an older krond does not tell
  std::vector<Need> needs = {};
  std::vector<Run> running = {};
  std::vector<Start> next = {};
  std::string outcomes = {};               // a letter for each of the last runs and periods, the newest last
  std::vector<std::int64_t> written = {};  // starts in each minute of the next hour, without windows
  std::vector<std::int64_t> spread = {};   // and as they will be
};

struct TopView {
  std::size_t selected = 0;  // of top_rows()
  std::string filter = {};   // only jobs whose names have it
  std::string prompt = {};   // a question, or what was done; instead of the keys
  bool has_colour = false;
  bool has_utf8 = true;
};

inline constexpr std::size_t kMostStarts = 8;

// What can be selected: runs, then starts.
struct TopRow {
  std::string job;
  std::string run_id;  // empty: of a job

  bool operator==(const TopRow&) const = default;
};
std::vector<TopRow> top_rows(const TopData& data, const TopView& view);

// Exactly `height` lines of at most `width` columns, with line ends between them. What does not fit is left out from
// the bottom: the load first, the sentence never.
std::string top_frame(const TopData& data, const TopView& view, std::size_t width, std::size_t height);

}  // namespace kron::cli
