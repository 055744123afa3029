#include "kron/cluster/keys.h"

#include "kron/cluster/sha1.h"

namespace kron::cluster {

std::string Keys::lock(std::string_view lock_name) const { return of("locks:") += sha1_hex(lock_name); }

}  // namespace kron::cluster
