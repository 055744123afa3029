#include "kron/api/output_part.h"

#include <algorithm>
#include <utility>

#include "kron/api/paths.h"
#include "kron/runner/output_reader.h"
#include "kron/runner/output_tail.h"

namespace kron::api {
namespace {

http::Response part_head(std::uint64_t start) {
  return {.content_type = "application/octet-stream", .headers = {{"Kron-Output-First", std::to_string(start)}}};
}

// On the loop, where runs end: no end comes between the look and the follower.
void begin_part(Parts& parts, const CallPtr& call, std::uint64_t start, bool follows) {
  parts.on_loop([&parts, call, start, follows] {
    const std::string& run_id = call->names.front();
    const bool has_ended = !follows || !parts.scheduler.is_active(run_id);
    auto stream = call->begin(part_head(start));
    if (!stream) return;
    stream->counts_as_whole();
    parts.outputs.follow(run_id, std::move(stream), has_ended, start);
  });
}

void look_and_send(Parts& parts, const CallPtr& call, const OutputPart& part, bool follows, bool has_written) {
  const std::string& run_id = call->names.front();
  // Only to tell an output that was removed from one that is empty.
  const auto output = runner::OutputReader::open(parts.run_files, run_id);
  if (!output && output.error().code != Code::not_found) return call->refuse(output.error());
  if (!output && has_written && !follows) return call->refuse(no_such_output(parts, run_id));
  const auto [first, end] = runner::OutputTail(parts.run_files.path(), run_id).extent();
  const std::uint64_t start = part.start(first, end);
  if (call->request.method == "HEAD") return call->send(part_head(start));
  begin_part(parts, call, start, follows);
}

}  // namespace

std::uint64_t OutputPart::start(std::uint64_t first, std::uint64_t end) const {
  std::uint64_t at = std::max(first, from.value_or(0));
  if (tail) at = std::max(at, end - std::min(end - first, *tail));
  return at;
}

Result<OutputPart> output_part(const http::Request& request) {
  OutputPart part;
  for (auto [name, value] : {std::pair("from", &part.from), std::pair("tail", &part.tail)}) {
    if (!request.parameter(name)) continue;
    const auto number = number_parameter(request, name, 0, 0, INT64_MAX);
    if (!number) return fail(number.error());
    *value = static_cast<std::uint64_t>(*number);
  }
  return part;
}

void send_output_part(Parts& parts, const CallPtr& call, const OutputPart& part, bool follows, bool has_written) {
  const bool taken = parts.aside(
      [&parts, call, part, follows, has_written] { look_and_send(parts, call, part, follows, has_written); });
  if (!taken) call->refuse(too_busy());
}

}  // namespace kron::api
