#include "reads_back.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  kron::fuzz::read_as(kron::jobs::Spelling::cronken, "jobs.json", data, size);
  return 0;
}
