#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kron/queue/tar.h"

namespace {

bool is_same(const std::vector<kron::StagedFile>& a, const std::vector<kron::StagedFile>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].path != b[i].path || a[i].bytes != b[i].bytes) return false;
  }
  return true;
}

}  // namespace

// Whatever is accepted may be staged, and reads back the same when it is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto files = kron::read_tar({reinterpret_cast<const char*>(data), size});
  if (!files) {
    if (files.error().code != kron::Code::invalid) std::abort();
    return 0;
  }
  if (!kron::check_staged_files(*files)) std::abort();
  if (!is_same(*files, kron::read_tar(kron::write_tar(*files)).value())) std::abort();
  return 0;
}
