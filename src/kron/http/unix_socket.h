#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/http/message.h"

// Stream sockets with a name in the file system. Paths may be longer than the 107 bytes that the kernel takes at once.
namespace kron::http {

// A socket that listens, not blocking. Its destructor removes the name, if it is still the one it made.
class UnixListener {
 public:
  // Makes the directory (0755) when it is missing, and replaces a socket that nobody answers on. Code conflict: one
  // that does answer; refused: something that is no socket, which stays.
  static Result<UnixListener> open(const std::string& path, mode_t mode, std::optional<gid_t> group);

  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  int descriptor() const { return socket_.get(); }

 private:
  UnixListener(Descriptor directory, std::string name, Descriptor socket, ino_t inode)
      : directory_(std::move(directory)), name_(std::move(name)), socket_(std::move(socket)), inode_(inode) {}

  Descriptor directory_;
  std::string name_;
  Descriptor socket_;
  ino_t inode_;
};

// A connected socket. Fails as system_error() says, with "connect to".
Result<Descriptor> connect_unix(const std::string& path, Nanoseconds timeout);

// Who connected; nothing when the socket is of another kind.
std::optional<Credentials> credentials_of(int socket);

}  // namespace kron::http
