#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kron/api/parts.h"

namespace kron::api {

// Which part of a run's output is wanted, by the bytes as the run wrote them, whatever has been cut since: 0 is the
// first that it ever wrote.
struct OutputPart {
  std::optional<std::uint64_t> from = {};
  std::optional<std::uint64_t> tail = {};  // no more than so many, the last ones that are there now

  [[nodiscard]] bool is_asked() const { return from || tail; }
  // Where to begin, when the bytes [first, end) are there. Never before `first`.
  [[nodiscard]] std::uint64_t start(std::uint64_t first, std::uint64_t end) const;
};
Result<OutputPart> output_part(const http::Request& request);

// Sends it with the header Kron-Output-First, the number of its first byte; and what the run adds to it, when
// `follows`. `has_written`: there must be an output.
void send_output_part(Parts& parts, const CallPtr& call, const OutputPart& part, bool follows, bool has_written);

// The output of a run that the history knows is there no more.
Error no_such_output(const Parts& parts, std::string_view run_id);

}  // namespace kron::api
