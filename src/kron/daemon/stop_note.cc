#include "kron/daemon/stop_note.h"

#include <algorithm>
#include <vector>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"
#include "kron/env/durable.h"
#include "kron/json/document.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"
#include "kron/state/names.h"
#include "kron/state/record.h"

namespace kron::daemon {
namespace {

constexpr std::size_t kLargestNote = 4096;

template <class T, class Parse>
void read(Fields& fields, std::string_view key, T& to, Parse parse) {
  if (const auto text = fields.text(key)) {
    fields.take(to, key, parse(*text));
  } else if (!fields.has(key)) {
    fields.report(key, "is missing");
  }
}

}  // namespace

std::string stop_note_text(const StopNote& note) {
  JsonWriter json;
  json.begin_map().member("Version", kStateVersion).member("StoppedAt", rfc3339(note.stopped_at));
  json.member("BootID", note.boot_id).member("SinceBoot", duration_text(note.since_boot));
  return json.end_map().take() + "\n";
}

Result<StopNote> parse_stop_note(std::string_view text) {
  const auto document = parse_json(text);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  StopNote note;
  std::string version;
  const auto as_it_is = [](std::string_view value) -> Result<std::string> { return std::string(value); };
  read(fields, "Version", version, as_it_is);
  read(fields, "StoppedAt", note.stopped_at, parse_rfc3339);
  read(fields, "BootID", note.boot_id, as_it_is);
  read(fields, "SinceBoot", note.since_boot, parse_duration);
  if (errors.empty() && version != kStateVersion) fields.report("Version", "is not \"1\"");
  if (!errors.empty()) return fail(errors.front());
  return note;
}

Status write_stop_note(FileSystem& file_system, std::string_view state_directory, const StopNote& note) {
  const auto directory = file_system.open_directory(state_directory);
  if (!directory) return fail(directory.error());
  const std::string text = stop_note_text(note);
  return durable_replace(file_system, **directory, {.name = kStopNoteName, .bytes = text}).status;
}

Result<std::optional<StopNote>> take_stop_note(FileSystem& file_system, std::string_view state_directory) {
  const auto directory = file_system.open_directory(state_directory);
  if (!directory) return fail(directory.error());
  const Result<FileContents> file = (*directory)->read(kStopNoteName, kLargestNote);
  if (!file && file.error().code == Code::not_found) return std::optional<StopNote>();
  // If we die after this, the next start finds no note, and judges what is due as after any other downtime.
  Status removed = (*directory)->remove(kStopNoteName);
  if (removed) removed = (*directory)->sync();
  if (!removed) return fail(removed.error());
  if (!file) return fail(file.error());
  const Result<StopNote> note = parse_stop_note(file->bytes);
  if (!note) {
    Error error = note.error();
    error.message = entry_path((*directory)->path(), kStopNoteName) + ": " + error.message;
    return fail(std::move(error));
  }
  return std::optional(*note);
}

std::optional<Instant> on_time_since(const StopNote& note, const Clock& clock) {
  const Instant t = now(clock);
  const Nanoseconds away = clock.boot_time() - note.since_boot;
  const bool is_same_boot = !note.boot_id.empty() && note.boot_id == clock.boot_id();
  if (!is_same_boot || away < Nanoseconds(0) || away > kLongestRestart || note.stopped_at > t) return std::nullopt;
  return std::max(note.stopped_at, t - kLongestRestart);
}

}  // namespace kron::daemon
