#pragma once

#include <cstdint>
#include <string>

#include "kron/jobs/load.h"

// Job files where people keep them: on this machine's disk.
namespace kron::jobs {

enum class Trust : std::uint8_t {
  anyone,    // to look at files
  own_only,  // to act on them: refused when anybody but root and ourselves owns or can write the file or its directory
};

// `-` is standard input.
inline constexpr std::string_view kStandardInput = "-";

FileAccess disk_files(Trust trust);

// The whole text; refused beyond 256 MiB.
Result<std::string> contents_of(const std::string& path, Trust trust = Trust::anyone);

}  // namespace kron::jobs
