#pragma once

namespace kron::cli {

// What is in memory are keys to krond: no file shall have them, and no other process of this user.
void keep_memory_private();

}  // namespace kron::cli
