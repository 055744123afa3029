#include "kron/env/safe_place.h"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <sys/stat.h>

namespace kron {
namespace {

std::string_view parent_of(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? "/" : path.substr(0, slash);
}

Status check_above(std::string_view path) {
  while (path != "/") {
    path = parent_of(path);
    struct stat info {};
    if (::stat(std::string(path).c_str(), &info) != 0) continue;
    if ((info.st_mode & S_IWOTH) == 0 || (info.st_mode & S_ISVTX) != 0) continue;
    const std::string place(path);
    return fail(Code::refused,
                "everybody can write " + place +
                    " and so exchange what is below it; chmod o-w or chmod +t it, or choose another place");
  }
  return {};
}

}  // namespace

Status check_place(const std::string& path) {
  if (Status above = check_above(path); !above) return above;
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real == nullptr ? Status{} : check_above(real.get());
}

}  // namespace kron
