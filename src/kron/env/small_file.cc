#include "kron/env/small_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"

namespace kron {

Result<SmallFile> read_small_file(const std::string& path, std::size_t most) {
  const Descriptor file(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!file) return fail(system_error("open", path, errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail(system_error("look at", path, errno));
  if (S_ISDIR(info.st_mode)) return fail(Code::invalid, path + " is a directory; name a file in it");
  // One byte more tells a file that is too large.
  SmallFile read{.text = std::string(most + 1, '\0'), .mode = info.st_mode};
  std::size_t size = 0;
  while (size <= most) {
    const ssize_t part =
        uninterrupted([&] { return ::read(file.get(), read.text.data() + size, read.text.size() - size); });
    if (part < 0) return fail(system_error("read", path, errno));
    if (part == 0) break;
    size += static_cast<std::size_t>(part);
  }
  if (size > most) return fail(Code::invalid, path + " holds more than " + std::to_string(most) + " bytes");
  read.text.resize(size);
  return read;
}

}  // namespace kron
