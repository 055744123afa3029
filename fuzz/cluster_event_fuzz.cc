#include <cstdlib>

#include "kron/cluster/events.h"

// What is read as an event is printed and read as the same one.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
  const kron::Result<kron::cluster::Event> event = kron::cluster::parse_event(payload);
  if (!event) return 0;
  const kron::Result<kron::cluster::Event> again = kron::cluster::parse_event(kron::cluster::text_of(*event));
  if (!again || *again != *event) std::abort();
  return 0;
}
