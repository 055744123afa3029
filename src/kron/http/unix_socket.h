#pragma once

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
#include "kron/env/descriptor.h"
#include "kron/http/listener.h"

// Stream sockets with a name in the file system. Paths may be longer than the 107 bytes that the kernel takes at once.
namespace kron::http {

// Who is at the other end of a unix socket, as the kernel says: the process that connected, at that time.
struct Credentials {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups = {};  // the supplementary ones
  pid_t pid = 0;

  bool operator==(const Credentials&) const = default;
};

// A name in the file system. Its destructor removes the name, if it is still the one it made.
class UnixListener : public Listener {
 public:
  // Who that user is to the server.
  using Identify = std::function<Identified(const Credentials&)>;

  // Makes the directory (0755) when it is missing, and replaces a socket that nobody answers on. Code conflict: one
  // that does answer; refused: something that is no socket, which stays.
  static Result<UnixListener> open(const std::string& path, mode_t mode, std::optional<gid_t> group, Identify identify);

  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener() override;

  int descriptor() const override { return socket_.get(); }
  using Listener::identify;
  Identified identify(int socket) const override;

 private:
  UnixListener(Descriptor directory, std::string name, Descriptor socket, ino_t inode, Identify identify)
      : directory_(std::move(directory)),
        name_(std::move(name)),
        socket_(std::move(socket)),
        inode_(inode),
        identify_(std::move(identify)) {}

  Descriptor directory_;
  std::string name_;
  Descriptor socket_;
  ino_t inode_;
  Identify identify_;
};

// A connected socket. Fails as system_error() says, with "connect to".
Result<Descriptor> connect_unix(const std::string& path, Nanoseconds timeout);

// Who connected; nothing when the socket is of another kind.
std::optional<Credentials> credentials_of(int socket);

}  // namespace kron::http
