#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kron/base/secret_files.h"
#include "kron/runner/exec/env_file.h"

namespace {

// A variable is NAME=value with a name of letters, digits and _, no longer than the line that it came from.
void check_variable(const char* variable, std::size_t most) {
  const char* const equals = std::strchr(variable, '=');
  if (equals == nullptr || equals == variable || std::strlen(variable) > most) std::abort();
  if (static_cast<std::size_t>(equals - variable) > kron::kMostVariableName) std::abort();
  for (const char* c = variable; c != equals; ++c) {
    const bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (!is_letter && (c == variable || *c < '0' || *c > '9')) std::abort();
  }
  if (std::strchr(equals, '\n') != nullptr) std::abort();
}

}  // namespace

// What an env_file holds. kron-exec reads it as root, in place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<char> bytes(data, data + size);
  bytes.push_back('x');  // the one byte more that there has to be
  kron::exec::EnvFile file(bytes.data(), size);
  std::vector<const char*> variables;
  while (const char* variable = file.next()) variables.push_back(variable);
  for (const char* variable : variables) check_variable(variable, size);
  if (variables.size() > kron::kMostEnvLines) std::abort();
  if (file.next() != nullptr) std::abort();
  if (file.problem() == nullptr && size > kron::kMostSecretFile) std::abort();
  return 0;
}
