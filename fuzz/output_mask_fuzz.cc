#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/runner/exec/output_mask.h"

namespace {

void keep(void* context, const char* bytes, std::size_t size) {
  static_cast<std::string*>(context)->append(bytes, size);
}

std::string masked(const kron::exec::MaskedValues& values, std::string_view text, std::size_t piece) {
  std::string stored;
  kron::exec::OutputMask mask;
  while (!text.empty()) {
    const std::size_t part = text.size() < piece ? text.size() : piece;
    mask.append(values, text.data(), part, keep, &stored);
    text.remove_prefix(part);
  }
  mask.finish(values, keep, &stored);
  return stored;
}

}  // namespace

// The first byte is how much is written at once; secrets end at the first NUL, a line each; the rest is output. However
// it is cut, the same is stored.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t end = all.find('\0');
  if (end == std::string_view::npos) return 0;
  kron::exec::MaskedValues values;
  if (!values.add_lines_of(all.substr(0, end)) || values.empty()) return 0;
  if (!values.finish()) return 0;
  const std::string_view text = all.substr(end + 1);
  if (masked(values, text, data[0] + 1U) != masked(values, text, text.size() + 1)) std::abort();
  return 0;
}
