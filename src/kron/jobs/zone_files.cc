#include "kron/jobs/zone_files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "kron/base/text.h"

namespace kron::jobs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "TZif";
// No zone's file is larger than a few kilobytes.
constexpr std::uintmax_t kMostZoneBytes = std::uintmax_t{1} << 20;
// Files and directories of the database that repeat other zones, or are no place's time.
constexpr auto kNotNames =
    std::to_array<std::string_view>({"posix", "right", "posixrules", "localtime", "Factory", "leapseconds"});
constexpr auto kAreas = std::to_array<std::string_view>({"Africa/", "America/", "Antarctica/", "Arctic/", "Asia/",
                                                         "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/"});

std::optional<std::string> bytes_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > kMostZoneBytes) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) return std::nullopt;
  return bytes;
}

bool is_zone_file(const fs::path& path) {
  std::array<char, kMagic.size()> first{};
  std::ifstream file(path, std::ios::binary);
  return file.read(first.data(), first.size()) && std::string_view(first.data(), first.size()) == kMagic;
}

template <class Visit>
void each_zone_file(const std::string& directory, const Visit& visit) {
  std::error_code error;
  fs::recursive_directory_iterator at(directory, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code unknown;
    if (std::ranges::find(kNotNames, path.filename().string()) != kNotNames.end() && at.depth() == 0) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(unknown)) {
      visit(path, path.lexically_relative(directory).string());
    }
  }
}

// The names of zone1970.tab: its third column.
std::set<std::string, std::less<>> listed_names(const std::string& directory) {
  std::set<std::string, std::less<>> names;
  std::ifstream table(directory + "/zone1970.tab");
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t second = line.find('\t', line.find('\t') + 1);
    if (second == std::string::npos) continue;
    const std::size_t end = std::min(line.find('\t', second + 1), line.size());
    names.insert(line.substr(second + 1, end - second - 1));
  }
  return names;
}

bool is_in_an_area(std::string_view name) {
  return std::ranges::any_of(kAreas, [&](std::string_view area) { return name.starts_with(area); });
}

const std::vector<std::string>& known_names() {
  static const std::vector<std::string> kNames = zone_names(zone_directory());
  return kNames;
}

}  // namespace

std::string zone_directory() {
  const char* given = std::getenv("TZDIR");
  return given != nullptr && *given != '\0' ? given : "/usr/share/zoneinfo";
}

std::vector<std::string> zone_names(const std::string& directory) {
  std::vector<std::string> names;
  each_zone_file(directory, [&](const fs::path& path, std::string name) {
    if (is_zone_file(path)) names.push_back(std::move(name));
  });
  std::ranges::sort(names);
  return names;
}

std::string zone_like(const std::string& path, const std::string& directory, std::string_view preferred) {
  const std::optional<std::string> wanted = bytes_of(path);
  if (!wanted || !wanted->starts_with(kMagic)) return "";
  std::vector<std::string> same;
  each_zone_file(directory, [&](const fs::path& file, std::string name) {
    std::error_code unknown;
    if (fs::file_size(file, unknown) == wanted->size() && bytes_of(file) == *wanted) same.push_back(std::move(name));
  });
  if (same.empty()) return "";
  const auto listed = listed_names(directory);
  const auto rank = [&](const std::string& name) {
    const int group = name == preferred       ? 0
                      : name == "UTC"         ? 1
                      : listed.contains(name) ? 2
                      : is_in_an_area(name)   ? 3
                                              : 4;
    return std::pair(group, name);
  };
  return *std::ranges::min_element(same, {}, rank);
}

std::string nearest_zone(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string_view> names;
  std::string city;
  for (const std::string& known : known_names()) {
    const std::string small = lower(known);
    if (small == wanted) return known;
    if (city.empty() && is_in_an_area(known) && small.ends_with("/" + wanted)) city = known;
    names.emplace_back(known);
  }
  return city.empty() ? std::string(nearest_word(name, names)) : city;
}

std::string with_nearest_zone(const std::string& message, std::string_view name) {
  const std::string near = nearest_zone(name);
  return near.empty() ? message : message.substr(0, message.find("; ")) + "; did you mean " + near + "?";
}

}  // namespace kron::jobs
