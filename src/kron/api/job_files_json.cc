#include "kron/api/job_files_json.h"

#include <algorithm>
#include <span>

#include "kron/api/json_values.h"
#include "kron/base/rfc3339.h"

namespace kron::api {
namespace {

// The first ones say enough; the counts tell of the rest.
constexpr std::size_t kMostFiles = 100;

std::string_view name_of(RefusedFile::InForce in_force) {
  switch (in_force) {
    case RefusedFile::InForce::none:
      return "none";
    case RefusedFile::InForce::earlier:
      return "earlier";
    case RefusedFile::InForce::rest:
      break;
  }
  return "rest";
}

std::string_view name_of(FileChange::How how) {
  switch (how) {
    case FileChange::How::changed:
      return "changed";
    case FileChange::How::added:
      return "added";
    case FileChange::How::removed:
      break;
  }
  return "removed";
}

template <class T>
std::span<const T> first_of(const std::vector<T>& all) {
  return {all.data(), std::min(all.size(), kMostFiles)};
}

}  // namespace

void write_job_files(JsonWriter& json, const JobFilesStatus& files,
                     const std::optional<std::vector<FileChange>>& changes) {
  json.key("jobFiles").begin_map().key("readAt");
  if (files.read_at) {
    json.text(rfc3339(*files.read_at));
  } else {
    json.null();
  }
  json.key("reloadError");
  if (files.reload_failed) {
    json.text(files.reload_failed->message);
  } else {
    json.null();
  }
  json.key("refusedCount").integer(number(files.refused.size())).key("refused").begin_list();
  for (const RefusedFile& file : first_of(files.refused)) {
    json.begin_map().member("file", file.file).key("line").integer(number(file.line));
    json.key("column").integer(number(file.column)).key("errors").integer(number(file.errors));
    json.member("reason", file.reason).member("inForce", name_of(file.in_force)).end_map();
  }
  json.end_list().key("changedCount");
  if (!changes) {
    json.null().key("changed").null().end_map();
    return;
  }
  json.integer(number(changes->size())).key("changed").begin_list();
  for (const FileChange& change : first_of(*changes)) {
    json.begin_map().member("file", change.file).member("change", name_of(change.how)).end_map();
  }
  json.end_list().end_map();
}

std::string why_no_job(const DaemonStatus& status) {
  const std::vector<RefusedFile>& refused = status.job_files.refused;
  if (status.jobs != 0 || refused.empty()) return "";
  std::string why = "no job is loaded: " + refused.front().file + ": " + refused.front().reason;
  if (refused.size() > 1) why += "; " + std::to_string(refused.size()) + " files were refused in all";
  return why;
}

}  // namespace kron::api
