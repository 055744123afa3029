#include "kron/api/job_source.h"

#include <sys/stat.h>

#include "kron/api/json_values.h"
#include "kron/core/schedule_words.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/source_lines.h"

namespace kron::api {
namespace {

void write_said(JsonWriter& json, std::string_view name, const std::optional<std::string>& text) {
  json.key(name);
  if (text) {
    json.text(*text);
  } else {
    json.null();
  }
}

}  // namespace

std::optional<std::string> read_source(const jobs::JobDefinition& definition, std::optional<Instant> read_at,
                                       bool with_secrets) {
  const std::string& path = *definition.file;
  struct stat info {};
  if (!read_at || definition.line == 0 || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  if (static_cast<std::size_t>(info.st_size) > kMostSourceFile || instant_of(info.st_mtim.tv_sec) > *read_at) {
    return std::nullopt;
  }
  const Result<std::string> text = jobs::contents_of(path);
  return text ? jobs::source_of(*text, definition, with_secrets) : std::nullopt;
}

void write_source(JsonWriter& json, const Scheduler::View& view, const std::optional<std::string>& source) {
  json.member("words", words_of(view.definition.job.schedule));
  write_said(json, "scheduleAsWritten", schedule_as_written(view.definition));
  write_said(json, "source", source);
  write_time_or_null(json, "firstSeen", view.known.periods.first_seen);
}

}  // namespace kron::api
