#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"

namespace kron::web {

// What a stream of krond's events has brought so far, and the newest of it: who comes later gets from here what krond
// itself would send him. Made for a stream that began with id 0, with everything that krond has. Pure.
class EventMirror {
 public:
  // As much as krond keeps.
  static constexpr std::size_t kMostKept = std::size_t{512} << 10U;
  // One event, or comment; krond's own are far smaller.
  static constexpr std::size_t kMostBlock = std::size_t{1} << 20U;

  enum class Kind : std::uint8_t { event, gap, comment };
  struct Block {
    Kind kind = Kind::comment;
    std::uint64_t id = 0;           // of an event
    std::string text = {};          // with the empty line behind it
    std::string_view name() const;  // of an event
  };

  // `last`: krond's newest event when the stream began.
  explicit EventMirror(std::uint64_t last, std::size_t most_kept = kMostKept) : last_(last), most_kept_(most_kept) {}

  // What is complete with these bytes, in order; events are kept from now on. Code invalid: this is no stream of
  // events whose ids grow.
  Result<std::vector<Block>> received(std::string_view bytes);

  // All that krond had when the stream began has come.
  bool is_ready() const { return is_ready_; }
  // The id of the newest event.
  std::uint64_t last() const { return last_; }
  // Everything behind this id, with an event `gap` for what is missing; as krond says it.
  std::string text_after(std::uint64_t id) const;
  // The stream was begun anew behind last(): what has come of a block is void.
  void goes_on() { unread_.clear(); }

 private:
  struct Kept {
    std::uint64_t id;
    std::string text;
  };
  Status take(const Block& block);
  void keep(const Block& block);

  std::string unread_;
  std::deque<Kept> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t last_;
  std::size_t most_kept_;
  bool is_whole_ = true;  // what krond ever told is here
  bool is_ready_ = false;
};

}  // namespace kron::web
