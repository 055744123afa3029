#include "kron/history/pauses.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "kron/base/rfc3339.h"
#include "kron/history/small_file.h"
#include "kron/json/document.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"

namespace kron::history {
namespace {

Result<Pause> pause_in(const Node& node) {
  if (node.as<Node::Map>() == nullptr) return fail(Code::invalid, "a map is missing", "pauses");
  std::vector<Error> errors;
  Fields fields(node, "pauses", errors);
  Pause pause;
  pause.job = fields.text("job").value_or("");
  if (pause.job.empty()) fields.report("job", "expected the job's name");
  fields.take(pause.since, "since", parse_rfc3339(fields.text("since").value_or("")));
  if (const auto text = fields.text("until")) {
    Instant until;
    fields.take(until, "until", parse_rfc3339(*text));
    pause.until = until;
  }
  pause.by = fields.text("by").value_or("");
  pause.note = fields.text("note").value_or("");
  if (!errors.empty()) return fail(errors.front());
  return pause;
}

}  // namespace

Pauses::Pauses(std::vector<Pause> all) : all_(std::move(all)) {
  if (all_.size() > kMost) all_.erase(all_.begin(), all_.end() - static_cast<std::ptrdiff_t>(kMost));
}

void Pauses::begin(Pause pause) {
  const auto is_it = [&](const Pause& known) { return known.job == pause.job && known.since == pause.since; };
  if (const auto known = std::ranges::find_if(all_, is_it); known != all_.end()) {
    *known = std::move(pause);
    return;
  }
  all_.push_back(std::move(pause));
  if (all_.size() > kMost) all_.erase(all_.begin());
}

void Pauses::end(std::string_view job, Instant at) {
  const auto last = std::find_if(all_.rbegin(), all_.rend(), [&](const Pause& known) { return known.job == job; });
  if (last == all_.rend() || last->since > at || (last->until && *last->until <= at)) return;
  last->until = at;
}

std::vector<Pause> Pauses::of(std::string_view job) const {
  std::vector<Pause> found;
  std::ranges::copy_if(all_, std::back_inserter(found), [&](const Pause& known) { return known.job == job; });
  return found;
}

std::string pauses_text(const std::vector<Pause>& all) {
  JsonWriter json;
  json.begin_map().key("version").integer(1).key("pauses").begin_list();
  for (const Pause& pause : all) {
    json.begin_map().member("job", pause.job).member("since", rfc3339(pause.since));
    if (pause.until) json.member("until", rfc3339(*pause.until));
    if (!pause.by.empty()) json.member("by", pause.by);
    if (!pause.note.empty()) json.member("note", pause.note);
    json.end_map();
  }
  return json.end_list().end_map().take() + "\n";
}

Result<std::vector<Pause>> parse_pauses(std::string_view text) {
  const Result<Node> document = parse_json(text, {.size = SmallFile::kMostBytes});
  if (!document) return fail(document.error());
  const Node* list = document->find("pauses");
  const auto* items = list == nullptr ? nullptr : list->as<Node::List>();
  if (items == nullptr) return fail(Code::invalid, "a list is missing", "pauses");
  std::vector<Pause> all;
  for (const Node& item : *items) {
    Result<Pause> pause = pause_in(item);
    if (!pause) return fail(pause.error());
    all.push_back(*std::move(pause));
  }
  return all;
}

}  // namespace kron::history
