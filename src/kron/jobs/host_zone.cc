#include "kron/jobs/host_zone.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kron/base/text.h"
#include "kron/jobs/zone_files.h"

namespace kron::jobs {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;
constexpr std::string_view kCure = "set CRON_TZ in the crontab, or TZ to a name such as Europe/Paris";

// The zone's name within the path of its file; empty when the path is not one of the database.
std::string name_in(const std::string& path, const std::string& directory) {
  constexpr std::string_view kUsual = "/zoneinfo/";
  constexpr std::string_view kPosix = "posix/";
  std::string_view name = path;
  if (name.starts_with(directory + "/")) {
    name.remove_prefix(directory.size() + 1);
  } else if (const std::size_t at = name.rfind(kUsual); at != std::string_view::npos) {
    name.remove_prefix(at + kUsual.size());
  } else {
    return "";
  }
  if (name.starts_with(kPosix)) name.remove_prefix(kPosix.size());
  return std::string(name);
}

// UTC needs no database; minimal images have none, and their /etc/localtime still says Etc/UTC.
bool is_utc(std::string_view name) {
  return name == "UTC" || name == "Etc/UTC" || name == "Etc/UCT" || name == "Etc/Zulu" || name == "Zulu" ||
         name == "UCT" || name == "Universal" || name == "Etc/Universal";
}

std::optional<TimeZone> named(ZoneDatabase& zones, const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (Result<TimeZone> zone = zones.find(name)) return *std::move(zone);
  if (is_utc(name)) return TimeZone();
  return std::nullopt;
}

// UTC0, GMT+0, UTC00:00: a rule of the C library that needs no zone's name.
bool is_zero_rule(std::string_view rule) {
  const std::size_t letters =
      std::min(rule.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), rule.size());
  std::string_view offset = rule.substr(letters);
  if (letters < 3 || offset.empty()) return false;
  if (offset.front() == '+' || offset.front() == '-') offset.remove_prefix(1);
  return !offset.empty() && offset.front() == '0' && offset.find_first_not_of("0:") == std::string_view::npos;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trimmed(line));
}

class Finder {
 public:
  Finder(ZoneDatabase& zones, const HostZonePlaces& places) : zones_(zones), places_(places) {
    directory_ = places.directory.empty() ? zone_directory() : places.directory;
  }

  HostZone of_variable(std::string_view value);
  HostZone of_file(const std::string& path, const std::string& source);

 private:
  std::optional<TimeZone> of_links(fs::path path);

  ZoneDatabase& zones_;
  const HostZonePlaces& places_;
  std::string directory_;
};

HostZone Finder::of_variable(std::string_view value) {
  if (value.starts_with(':')) value.remove_prefix(1);
  if (value.empty()) return {.source = "TZ is empty"};
  if (value.starts_with('/')) return of_file(std::string(value), "TZ");
  if (std::optional<TimeZone> zone = named(zones_, std::string(value))) return {*std::move(zone), "TZ"};
  if (is_zero_rule(value)) return {.source = "TZ"};
  return {.source = "TZ",
          .problem = "the host's time zone has no name: TZ is " + quoted(value) + ", which is no zone of " + directory_,
          .cure = std::string(kCure)};
}

// By the link, so that the name is the one its administrator gave; each step of a chain may be the one in the database.
std::optional<TimeZone> Finder::of_links(fs::path path) {
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return std::nullopt;
    path = (path.parent_path() / target).lexically_normal();
    if (auto zone = named(zones_, name_in(path.string(), directory_))) return zone;
  }
  return std::nullopt;
}

HostZone Finder::of_file(const std::string& path, const std::string& source) {
  if (auto direct = named(zones_, name_in(path, directory_))) return {*std::move(direct), source};
  if (auto linked = of_links(path)) return {*std::move(linked), path};
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  // The C library takes UTC when the file is not there.
  if (status.type() == fs::file_type::not_found) return {.source = "there is no " + path};
  const std::string copied = zone_like(path, directory_, first_line(places_.timezone));
  if (auto zone = named(zones_, copied)) return {*std::move(zone), path + ", a copy"};
  return {.source = source,
          .problem = "the host's time zone has no name: " + path +
                     (fs::exists(path, error) ? " is a copy of no zone of " : " leads to no file of ") + directory_,
          .cure = std::string(kCure)};
}

}  // namespace

HostZonePlaces host_zone_places() {
  HostZonePlaces places;
  if (const char* variable = std::getenv("TZ"); variable != nullptr) places.tz = variable;
  return places;
}

HostZone host_zone(ZoneDatabase& zones, const HostZonePlaces& places) {
  Finder finder(zones, places);
  if (places.tz) return finder.of_variable(*places.tz);
  return finder.of_file(places.localtime, places.localtime);
}

}  // namespace kron::jobs
