#pragma once

#include <cstddef>
#include <sys/types.h>

namespace kron::exec {

// What a secret file holds, in memory of its own that is overwritten when it goes. One byte more than `size` is there.
class SecretText {
 public:
  SecretText() = default;
  ~SecretText();
  SecretText(const SecretText&) = delete;
  SecretText& operator=(const SecretText&) = delete;

  char* bytes() const { return bytes_; }
  std::size_t size() const { return size_; }

  // Reads the file for a command that is to run as `user`. Null, or why not, without what is in it. It has to be a
  // regular file that belongs to root or to `user`, that its group cannot write and others can neither read nor write.
  //
  // Who we are may read more than `user` may. So that nobody has us read what is not his, by a name or a link that he
  // can change: unless we are `user` ourselves, no part of the path may be a symbolic link, and of a file that is
  // root's, root alone may be able to change every directory above it. A file of `user`'s own he can read anyway.
  const char* read(const char* path, uid_t user);

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace kron::exec
