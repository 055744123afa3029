#pragma once

#include <string>
#include <sys/types.h>

namespace kron {

// The PID of the process that took a flock on the file or directory of this inode, as the kernel lists it; empty when
// nobody has one, or the kernel does not tell. Asking takes no lock, so it keeps nobody out.
std::string flock_holder(ino_t inode);

}  // namespace kron
