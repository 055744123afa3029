#include "kron/kube/credentials.h"

#include <algorithm>

#include "kron/base/text.h"

namespace kron::kube {

Status Credentials::read_into(const TextOrFile& from, std::string& to) const {
  if (from.file.empty()) {
    to = from.text;
    return {};
  }
  Result<std::string> read = read_file_(from.file);
  if (!read) return fail(read.error());
  if (trimmed(*read).empty()) return fail(Code::invalid, from.file + " is empty");
  to = *std::move(read);
  return {};
}

Result<Material> Credentials::read() const {
  Material material;
  for (const auto& [from, to] :
       {std::pair(&connection_.authority, &material.authority),
        std::pair(&connection_.certificate, &material.certificate), std::pair(&connection_.key, &material.key),
        std::pair(&connection_.token, &material.token)}) {
    if (Status done = read_into(*from, *to); !done) return fail(done.error());
  }
  material.token = std::string(trimmed(material.token));
  // It becomes a line of the request: whatever would end that line would begin another.
  const bool is_odd = std::ranges::any_of(material.token, [](char c) { return c <= ' ' || c >= 127; });
  if (is_odd) return fail(Code::invalid, "the token has characters that no token has", "token");
  return material;
}

Result<Material> Credentials::current(Nanoseconds monotonic) {
  const Nanoseconds age = monotonic - tried_at_;
  const bool is_due = age >= kReadAgain || ((is_refused_ || !trouble_.empty()) && age >= Seconds(1));
  if (material_ && !is_due) return *material_;
  tried_at_ = monotonic;
  is_refused_ = false;
  Result<Material> read_now = read();
  if (read_now) {
    trouble_.clear();
    material_ = *std::move(read_now);
  } else {
    trouble_ = read_now.error().message;
    if (!material_) return read_now;
  }
  return *material_;
}

}  // namespace kron::kube
