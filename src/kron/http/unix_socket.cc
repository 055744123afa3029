#include "kron/http/unix_socket.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "kron/base/text.h"
#include "kron/env/system_error.h"

namespace kron::http {
namespace {

struct Place {
  std::string directory;
  std::string name;
};

Result<Place> place_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  Place place{".", path};
  if (slash != std::string::npos) place = {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
  if (place.name.empty() || place.name == "." || place.name == ".." || path.find('\0') != std::string::npos) {
    return fail(Code::invalid, "the path of a socket names a file, not " + quoted(path));
  }
  return place;
}

Result<Descriptor> open_directory(const Place& place) {
  Descriptor directory(::open(place.directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(system_error("open the directory", place.directory, errno));
  return directory;
}

// The name through the open directory: short, however deep that is.
Result<sockaddr_un> address_of(const Descriptor& directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length =
      std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory.get(), name.c_str());
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof(address.sun_path)) {
    return fail(Code::invalid, "the socket's name " + quoted(name) + " is too long; a name of up to 80 bytes will do");
  }
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

Descriptor stream_socket(int flags) { return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)); }

// Makes the name free, if what has it is a socket without a server.
Status make_way(const Descriptor& directory, const std::string& name, const sockaddr_un& address,
                const std::string& path) {
  struct stat info {};
  if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return fail(system_error("look at", path, errno));
  }
  if (!S_ISSOCK(info.st_mode)) {
    return fail(Code::refused,
                "cannot listen on " + path + ": it is there and is no socket; move it away, or name another path");
  }
  const Descriptor probe = stream_socket(SOCK_NONBLOCK);
  if (!probe) return fail(system_error("make a socket for", path, errno));
  if (::connect(probe.get(), generic(address), sizeof(address)) == 0 || errno == EAGAIN) {
    return fail(Code::conflict,
                "cannot listen on " + path + ": another server answers there; stop it, or name another path");
  }
  if (errno != ECONNREFUSED && errno != ENOENT) return fail(system_error("connect to", path, errno));
  if (::unlinkat(directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    return fail(system_error("remove", path, errno));
  }
  return {};
}

timeval timeval_of(Nanoseconds time) {
  const auto whole = std::chrono::floor<Seconds>(time);
  const auto rest = std::chrono::floor<std::chrono::microseconds>(time - whole);
  return {.tv_sec = whole.count(), .tv_usec = rest.count()};
}

}  // namespace

Result<UnixListener> UnixListener::open(const std::string& path, mode_t mode, std::optional<gid_t> group,
                                        Identify identify) {
  const Result<Place> place = place_of(path);
  if (!place) return fail(place.error());
  if (::mkdir(place->directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(system_error("make the directory", place->directory, errno));
  }
  Result<Descriptor> directory = open_directory(*place);
  if (!directory) return fail(directory.error());
  const Result<sockaddr_un> address = address_of(*directory, place->name);
  if (!address) return fail(address.error());
  if (Status status = make_way(*directory, place->name, *address, path); !status) return fail(status.error());

  Descriptor socket = stream_socket(SOCK_NONBLOCK);
  if (!socket) return fail(system_error("make a socket for", path, errno));
  if (::bind(socket.get(), generic(*address), sizeof(*address)) != 0) {
    return fail(system_error("bind a socket to", path, errno));
  }
  struct stat info {};
  ::fstatat(directory->get(), place->name.c_str(), &info, AT_SYMLINK_NOFOLLOW);
  UnixListener listener(*std::move(directory), place->name, std::move(socket), info.st_ino, std::move(identify));
  // Before listen(): until then nobody gets in, whatever the umask was.
  const char* name = listener.name_.c_str();
  const int at = listener.directory_.get();
  if (::fchmodat(at, name, mode, 0) != 0) return fail(system_error("set the mode of", path, errno));
  if (group && ::fchownat(at, name, static_cast<uid_t>(-1), *group, AT_SYMLINK_NOFOLLOW) != 0) {
    return fail(system_error("change the group of", path, errno));
  }
  if (::listen(listener.descriptor(), SOMAXCONN) != 0) return fail(system_error("listen on", path, errno));
  return listener;
}

UnixListener::~UnixListener() {
  if (!socket_) return;
  struct stat info {};
  const bool is_ours = ::fstatat(directory_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISSOCK(info.st_mode) && info.st_ino == inode_;
  if (is_ours) ::unlinkat(directory_.get(), name_.c_str(), 0);
}

Listener::Identified UnixListener::identify(int socket) const {
  const std::optional<Credentials> peer = credentials_of(socket);
  if (!peer) return problem(400, "the kernel does not say who has connected");
  return identify_(*peer);
}

Result<Descriptor> connect_unix(const std::string& path, Nanoseconds timeout) {
  const Result<Place> place = place_of(path);
  if (!place) return fail(place.error());
  const Descriptor directory(::open(place->directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return fail(system_error("connect to", path, errno));
  const Result<sockaddr_un> address = address_of(directory, place->name);
  if (!address) return fail(address.error());
  Descriptor socket = stream_socket(0);
  if (!socket) return fail(system_error("make a socket for", path, errno));
  // A server whose queue is full is waited for as long.
  const timeval limit = timeval_of(timeout);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (uninterrupted([&] { return ::connect(socket.get(), generic(*address), sizeof(*address)); }) != 0) {
    return fail(system_error("connect to", path, errno));
  }
  return socket;
}

std::optional<Credentials> credentials_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  Credentials credentials{peer.uid, peer.gid, std::vector<gid_t>(32), peer.pid};
  std::vector<gid_t>& groups = credentials.groups;
  auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  int result = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
  if (result != 0 && errno == ERANGE) {
    groups.resize(bytes / sizeof(gid_t));
    result = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
  }
  groups.resize(result == 0 ? bytes / sizeof(gid_t) : 0);
  return credentials;
}

}  // namespace kron::http
