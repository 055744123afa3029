#include "files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/base/text.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::string_view kStandardInput = "-";

tl::unexpected<Error> cannot(std::string_view what) {
  return fail(Code::io, "cannot " + std::string(what) + ": " + std::strerror(errno));
}

Result<jobs::FileAccess::Facts> look_at(const std::string& path) {
  if (path == kStandardInput) return jobs::FileAccess::Facts{};
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return cannot("read it");
  const bool is_file = S_ISREG(info.st_mode);
  return jobs::FileAccess::Facts{S_ISDIR(info.st_mode), is_file && (info.st_mode & S_IWOTH) != 0};
}

Result<std::vector<std::string>> names_in(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return cannot("read the directory");
  std::vector<std::string> names;
  for (errno = 0; const dirent* entry = ::readdir(directory.get());) names.emplace_back(entry->d_name);
  if (errno != 0) return cannot("read the directory");
  return names;
}

Result<std::string> read_all(int descriptor) {
  std::string bytes;
  std::vector<char> chunk(std::size_t{1} << 16);
  for (;;) {
    const ssize_t size = ::read(descriptor, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot("read it");
    if (size == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(size));
    if (bytes.size() > kMostBytes) {
      return fail(Code::io, "larger than " + std::to_string(kMostBytes >> 20) + " MiB; split it");
    }
  }
}

std::optional<jobs::Spelling> spelling_named(std::string_view word) {
  if (word.empty()) return std::nullopt;
  return word == "kron"   ? jobs::Spelling::kron
         : word == "yaml" ? jobs::Spelling::yaml
         : word == "cron" ? jobs::Spelling::crontab
                          : jobs::Spelling::cronken;
}

// The zone's name within the path of its file.
std::string_view zone_in(std::string_view path) {
  constexpr std::string_view kDirectory = "zoneinfo/";
  const std::size_t at = path.rfind(kDirectory);
  return at == std::string_view::npos ? path : path.substr(at + kDirectory.size());
}

std::string linked_zone() {
  std::vector<char> target(4096);
  const ssize_t size = ::readlink("/etc/localtime", target.data(), target.size());
  return size <= 0 ? "" : std::string(zone_in({target.data(), static_cast<std::size_t>(size)}));
}

}  // namespace

Result<std::string> contents_of(const std::string& path) {
  if (path == kStandardInput) return read_all(STDIN_FILENO);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot("read it");
  Result<std::string> bytes = read_all(descriptor);
  ::close(descriptor);
  return bytes;
}

TimeZone host_zone(ZoneDatabase& zones) {
  std::vector<std::string> names;
  if (const char* variable = std::getenv("TZ"); variable != nullptr) {
    std::string_view name = variable;
    if (name.empty()) return {};  // as the C library reads it
    if (name.starts_with(':')) name.remove_prefix(1);
    names.emplace_back(zone_in(name));
  }
  if (const Result<std::string> text = contents_of("/etc/timezone")) names.emplace_back(trimmed(*text));
  names.push_back(linked_zone());
  for (const std::string& name : names) {
    if (name.empty()) continue;
    if (Result<TimeZone> zone = zones.find(name)) return *std::move(zone);
  }
  return {};
}

int ReadJobs::status() const {
  if (could_not_read) return exit_status(Code::io);
  return jobs.has_errors() ? exit_status(Code::invalid) : 0;
}

ReadJobs read_jobs(const SourceOptions& options, ZoneDatabase& zones) {
  ReadJobs read;
  const auto noting = [&read](auto answer) {
    return [&read, answer](const std::string& path) {
      auto result = answer(path);
      if (!result) read.could_not_read = true;
      return result;
    };
  };
  const jobs::FileAccess files{noting(look_at), noting(names_in), noting(contents_of)};
  const jobs::LoadOptions load{host_zone(zones), spelling_named(options.source), std::nullopt};
  read.jobs = jobs::load_paths(options.paths, files, zones, load);
  return read;
}

void show_errors(const ReadJobs& read) {
  for (const jobs::Problem& problem : read.jobs.problems) {
    if (problem.severity == jobs::Severity::error) show_aside({&problem, 1});
  }
}

Result<const jobs::JobDefinition*> job_named(const jobs::LoadedJobs& jobs, std::string_view name) {
  std::vector<std::string_view> names;
  for (const jobs::JobDefinition& definition : jobs.definitions) {
    if (definition.job.identity == name) return &definition;
    names.push_back(definition.job.identity);
  }
  const std::string_view near = nearest_word(name, names);
  return fail(Code::not_found, "there is no job " + quoted(name, 200) + " among the " + std::to_string(names.size()) +
                                   " that were read" +
                                   (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
}

}  // namespace kron::cli
