#include "kron/env/system_error.h"

#include <cerrno>
#include <cstring>
#include <iterator>

namespace kron {
namespace {

struct Row {
  int error_number;
  Code code;
  std::string_view cure;
};

constexpr Row kTable[] = {
    {ENOENT, Code::not_found, "create it, or correct the path"},
    {EEXIST, Code::conflict, "something of that name is already there"},
    {ENOTEMPTY, Code::conflict, "something is still in it"},
    {EACCES, Code::refused, "check its owner and permissions, and the user this program runs as"},
    {EPERM, Code::refused, "check its owner and permissions, and the user this program runs as"},
    {ELOOP, Code::refused, "symbolic links are not followed here: remove it"},
    {ENOTDIR, Code::io, "a directory is needed there"},
    {ENOSPC, Code::io, "free some space on that file system"},
    {EDQUOT, Code::io, "free some space, or raise the quota"},
    {EROFS, Code::io, "see in the kernel log why it is read-only, then mount it writable"},
    {EIO, Code::io, "the disk is failing: see the kernel log, and replace it"},
    {EMFILE, Code::io, "raise the limit of open files (ulimit -n, LimitNOFILE=)"},
    {ENFILE, Code::io, "raise the limit of open files (sysctl fs.file-max)"},
    {EAGAIN, Code::io,
     "raise the limit of processes and threads (ulimit -u, TasksMax=, or the pids limit of the container)"},
    {EFBIG, Code::io, "raise the limit of file sizes (ulimit -f, LimitFSIZE=)"},
    {ENAMETOOLONG, Code::io, "use a shorter path"},
};
constexpr Row kOther{0, Code::io, "see the kernel log"};

const Row& row_of(int error_number) {
  for (const Row& row : kTable) {
    if (row.error_number == error_number) return row;
  }
  return kOther;
}

}  // namespace

Error system_error(std::string_view verb, std::string_view path, int error_number) {
  const Row& row = row_of(error_number);
  const char* description = strerrordesc_np(error_number);
  const char* name = strerrorname_np(error_number);
  std::string message = "cannot ";
  message.append(verb).append(" ").append(path).append(": ");
  message.append(description != nullptr ? description : "unknown error");
  if (name != nullptr) message.append(" (").append(name).append(")");
  message.append("; ").append(row.cure);
  return Error{row.code, std::move(message)};
}

}  // namespace kron
