#include "kron/runner/started_record.h"

#include "kron/runner/protocol.h"
#include "kron/runner/record_lines.h"

namespace kron::runner {

std::optional<Session> parse_started_record(std::string_view text) {
  if (text.size() > kMostRecord || cut_before(text, '\n') != kStartedFirstLine) return std::nullopt;
  Session session;
  while (std::optional<std::string_view> line = cut_before(text, '\n')) {
    // 0 and 1 are no session of a command's, and to signal them would be to signal far too many.
    if (line == kRecordLastLine) return session.id > 1 ? std::optional(session) : std::nullopt;
    const std::optional<std::string_view> key = cut_before(*line, '=');
    if (!key) return std::nullopt;
    if (*key == "session" && !read_number(*line, session.id)) return std::nullopt;
    if (*key == "cgroup") session.cgroup = *line;
    if (*key == "tick" && !read_number(*line, session.tick)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace kron::runner
