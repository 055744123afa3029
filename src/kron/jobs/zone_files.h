#pragma once

#include <string>
#include <string_view>
#include <vector>

// The time zone database as files: which names there are, and which of them a file is a copy of.
namespace kron::jobs {

// Where the database is: $TZDIR, or the system's.
std::string zone_directory();

// The names of all zones below `directory`, sorted. Without posix/ and right/, which repeat the others, and without
// what is no zone. Empty when there is no such directory.
std::vector<std::string> zone_names(const std::string& directory);

// The name of a zone whose file has the same bytes as `path`; empty when there is none. Many zones have several names:
// `preferred` is taken when it is one of them, then a name that zone1970.tab lists, then Area/City before the others.
std::string zone_like(const std::string& path, const std::string& directory, std::string_view preferred);

// The zone that the author of `name` most likely meant: whatever the case, the city alone, or nearly spelled so. Empty
// when none is near. The names of zone_directory() are read once in the life of the process.
std::string nearest_zone(std::string_view name);

// The message of ZoneDatabase::find about `name`, with the nearest zone, when there is one, in the place of its advice.
std::string with_nearest_zone(const std::string& message, std::string_view name);

}  // namespace kron::jobs
