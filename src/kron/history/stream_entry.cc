#include "kron/history/stream_entry.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kron/json/document.h"
#include "kron/json/fields.h"

namespace kron::history {
namespace {

using StreamId = std::pair<std::uint64_t, std::uint64_t>;

std::optional<StreamId> parse_stream_id(std::string_view text) {
  StreamId id;
  const char* end = text.data() + text.size();
  const auto [dash, first] = std::from_chars(text.data(), end, id.first);
  if (first != std::errc() || dash == end || *dash != '-') return std::nullopt;
  const auto [stopped, second] = std::from_chars(dash + 1, end, id.second);
  if (second != std::errc() || stopped != end) return std::nullopt;
  return id;
}

bool says_running(std::string_view json) {
  const Result<Node> document = parse_json(json);
  if (!document) return false;
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  return fields.text("state") == "running";
}

}  // namespace

Result<Entry> parse_stream_entry(std::string_view id, std::string_view json) {
  const std::optional<StreamId> at = parse_stream_id(id);
  if (!at) return fail(Code::invalid, "the id of an entry of the stream is milliseconds-sequence");
  Result<Entry> entry = parse_entry(json);
  if (!entry) return entry;
  entry->number = 0;
  const Instant time = instant_of(static_cast<std::int64_t>(at->first / 1000));
  const bool runs = !entry->run_id.empty() && !entry->ended_at && says_running(json);
  if (runs) {
    if (!entry->started_at) entry->started_at = time;
  } else if (!entry->ended_at) {
    entry->ended_at = time;
  }
  return entry;
}

bool is_behind(std::string_view id, std::string_view other) {
  return parse_stream_id(id).value_or(StreamId()) > parse_stream_id(other).value_or(StreamId());
}

}  // namespace kron::history
