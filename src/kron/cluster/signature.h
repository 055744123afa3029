#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kron/base/result.h"
#include "kron/env/file_system.h"
#include "kron/json/document.h"

// Who may write `:jobs` runs commands on every host. A signature says that a definition comes from somebody who has the
// key: `kron_sig`, beside cron_args and job_args (docs/formats.md). job_state is not signed, so that pausing a job
// keeps its signature valid. An old definition with its old signature is still valid.
namespace kron::cluster {

// The definition as it is signed: a map of those of cron_args, job_args and kron that it has, keys in the order of
// their bytes, no blanks, texts and numbers as Python's json.dumps(…, ensure_ascii=False) writes them. Pure.
std::string canonical_definition(const Node& definition);

class SigningKey {
 public:
  static constexpr std::size_t kFewestBytes = 16;

  explicit SigningKey(std::string bytes) : bytes_(std::move(bytes)) {}

  // The bytes of a file, without a newline at their end. Refused: others than the owner may read or write it, the owner
  // is neither we nor root, it is too short.
  static Result<SigningKey> read(FileSystem& file_system, const std::string& path);

  // HMAC-SHA256 of namespace, newline, name, newline, canonical definition; 64 hex digits.
  [[nodiscard]] std::string sign(std::string_view name_space, std::string_view name, const Node& definition) const;

 private:
  std::string bytes_;
};

// What a host asks of the signatures of its jobs.
struct SignatureRules {
  std::optional<SigningKey> key = {};  // with one, a wrong signature is always refused
  bool is_required = false;            // and a missing one too; without a key all are refused then
};

// Refused: why this definition may not run.
Status check_signature(const SignatureRules& rules, std::string_view name_space, std::string_view name,
                       const Node& definition);

}  // namespace kron::cluster
