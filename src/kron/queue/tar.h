#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/queue/task_queue.h"

// Staged files on their way from a worker outside: a tar archive (POSIX ustar with pax records, GNU long names).
namespace kron {

// As many files as may be staged, each with its header and a long name, and the padding.
inline constexpr std::size_t kMostTarBytes = kMostStagedBytes + (std::size_t{8} << 20);

// The regular files, as check_staged_files wants them; a leading "./" is left out, directories are implied by what lies
// in them. Code invalid, with the entry or the byte where it is: no tar, cut off, damaged; a link, a device, a path
// that leads elsewhere; beyond the limits. Owners, modes and times are not kept.
Result<std::vector<StagedFile>> read_tar(std::string_view archive);

// The same bytes for the same files.
std::string write_tar(std::span<const StagedFile> files);

}  // namespace kron
