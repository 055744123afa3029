#include <cstdio>
#include <thread>
#include <vector>

#include "answer_text.h"
#include "daemon_client.h"
#include "event_stream.h"
#include "flag_values.h"
#include "kron/json/writer.h"
#include "kron/log/line_log.h"
#include "lines.h"
#include "operate_verbs.h"

namespace kron::cli {
namespace {

LogLevel level_named(std::string_view name) {
  for (const LogLevel level : {LogLevel::debug, LogLevel::info, LogLevel::warning}) {
    if (name == name_of(level)) return level;
  }
  return LogLevel::error;
}

// The line that krond itself would have logged as text.
std::string text_of(const StreamedEvent& event, const ScreenTimes& times) {
  const auto data = parse_json(event.data);
  const auto* map = data ? data->as<Node::Map>() : nullptr;
  if (map == nullptr) return harmless(event.name + " " + event.data);
  std::vector<std::string> values;
  values.reserve(map->size());
  std::vector<LogField> fields;
  for (const Node::Member& member : *map) {
    if (member.key == "ts" || member.key == "level" || member.key == "event") continue;
    if (const auto* number = member.value.as<std::int64_t>()) {
      fields.push_back({member.key, *number});
      continue;
    }
    const auto* text = member.value.as<std::string>();
    values.push_back(text != nullptr ? *text : JsonWriter().node(member.value).take());
    if (text != nullptr) {
      fields.push_back({member.key, std::string_view(values.back())});
    } else {
      fields.push_back({member.key, LogJson{values.back()}});
    }
  }
  std::string line = text_line({}, level_named(text_in(*data, "level")), text_in(*data, "event"), fields);
  return line.replace(0, line.find(' '), times.at(text_in(*data, "ts")));
}

// What is missing before the events that follow; nothing to say when krond ended its last stream in order: then all was
// told before it was started again.
void tell_gap(const StreamedEvent& event, bool ended_in_order) {
  const auto data = parse_json(event.data);
  const bool was_restarted = data && text_in(*data, "reason") == "restarted";
  if (was_restarted && ended_in_order) return;
  std::fprintf(stderr, "kron events: %s\n",
               was_restarted ? "krond was started again since then; what it logged before its end may be missing"
                             : "older events are no longer buffered; some are missing");
}

}  // namespace

int show_events(const EventsOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse("events", client.error(), options.json);
  const ScreenTimes times = screen_times(options.times);
  std::size_t shown = 0;
  std::string last = options.after;
  bool wants_more = true;
  bool was_there = false;
  bool ended_in_order = false;
  const auto show = [&](const StreamedEvent& event) {
    if (event.name == "gap") {
      tell_gap(event, ended_in_order);
      return true;
    }
    last = event.id;
    const std::string line = (options.json ? event.data : text_of(event, times)) + "\n";
    const bool is_read = std::fputs(line.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    wants_more = is_read && ++shown != options.limit;
    return wants_more;
  };
  while (true) {
    EventStream events(show);
    http::Fields headers;
    if (!last.empty()) headers.emplace_back("Last-Event-ID", last);
    bool has_begun = false;
    const auto take = [&](std::string_view bytes) { return events.take(bytes); };
    const Status ended = client->stream(Target("events"), headers, take, [&](const http::Response& head) {
      was_there = has_begun = true;
      // Where this stream begins, for as long as no event of it was seen.
      if (last.empty()) last = head.header("last-event-id").value_or("");
    });
    if (!wants_more) return 0;
    if (has_begun) ended_in_order = ended.has_value();
    const bool may_pass = ended || (was_there && ended.error().code == Code::unreachable);
    if (!may_pass) return refuse("events", ended.error(), options.json);
    // krond has ended, or found us too slow: it goes on behind what was shown.
    std::this_thread::sleep_for(options.pause);
  }
}

}  // namespace kron::cli
