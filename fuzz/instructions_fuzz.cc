#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kron/runner/exec/instruction_reader.h"
#include "kron/runner/protocol.h"

namespace {

// Every text that was accepted ends within the bytes: the sanitizer sees who reads beyond.
std::size_t length(const char* text) { return text == nullptr ? 0 : std::strlen(text); }

std::size_t length(char* const* texts) {
  std::size_t total = 0;
  for (; *texts != nullptr; ++texts) total += std::strlen(*texts);
  return total;
}

void check(std::string bytes) {
  kron::exec::Instructions read;
  if (kron::exec::read_instructions(bytes.data(), bytes.size(), read) != nullptr) return;
  if (read.run_id == nullptr || *read.run_id == '\0' || *read.run_id == '.') std::abort();
  if (std::strchr(read.run_id, '/') != nullptr) std::abort();
  if (read.timeout < 0 || read.grace < 0 || read.limit_count > RLIM_NLIMITS) std::abort();
  if (read.failure == nullptr && (read.arguments[0] == nullptr || read.directory == nullptr)) std::abort();
  if (read.env_file_count > kron::kMostEnvFiles || read.credential_count > kron::kMostCredentials) std::abort();
  std::size_t secrets = length(read.credentials_at);
  for (std::size_t i = 0; i < read.env_file_count; ++i) {
    if (read.env_files[i][0] != '/') std::abort();
    secrets += length(read.env_files[i]);
  }
  for (std::size_t i = 0; i < read.credential_count; ++i) {
    const auto& [name, path] = read.credentials[i];
    // The name becomes that of a file.
    if (!kron::is_credential_name(name) || path[0] != '/') std::abort();
    secrets += length(name) + length(path);
  }
  if (read.credential_count > 0 && read.credentials_at == nullptr) std::abort();
  const std::size_t texts = length(read.run_id) + length(read.arguments) + length(read.variables) +
                            length(read.directory) + length(read.cgroup) + length(read.failure) + secrets +
                            (read.input ? read.input->size() : 0);
  if (texts > bytes.size()) std::abort();
  // Of a run that may have several attempts, one more variable finds its place, and the list still has its end.
  if (*read.attempt != nullptr) std::abort();
  char attempt[] = "KRON_ATTEMPT=1";
  *read.attempt = attempt;
  const std::size_t before = length(read.arguments);
  if (length(read.variables) < sizeof attempt - 1 || length(read.arguments) != before) std::abort();
}

}  // namespace

// What kron-exec is told. It comes from krond alone, but a helper that runs as root reads nothing on trust. Taken as
// it is, and as records behind the mark, which chance would rarely hit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  check(std::string(kron::runner::kInstructionsMark, kron::runner::kMarkSize) + bytes);
  return 0;
}
