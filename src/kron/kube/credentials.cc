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
  if (given_) {
    material.token = given_->token;
    material.certificate = given_->certificate;
    material.key = given_->key;
  }
  material.token = std::string(trimmed(material.token));
  // It becomes a line of the request: whatever would end that line would begin another.
  const bool is_odd = std::ranges::any_of(material.token, [](char c) { return c <= ' ' || c >= 127; });
  if (is_odd) return fail(Code::invalid, "the token has characters that no token has", "token");
  return material;
}

bool Credentials::is_given(Nanoseconds monotonic) const {
  return given_ && !is_refused_ && (!expires_ || monotonic < *expires_);
}

bool Credentials::wants_plugin(Nanoseconds monotonic) {
  if (!connection_.exec || is_running_) return false;
  if (failed_at_ && monotonic - *failed_at_ < kRunAgain) return false;
  if (run_at_ && monotonic - *run_at_ < Seconds(1)) return false;  // whatever the server says to what it gives
  const bool is_early = renews_ && monotonic >= *renews_;
  if (is_given(monotonic) && !is_early) return false;
  is_running_ = true;
  run_at_ = monotonic;
  return true;
}

bool Credentials::must_wait(Nanoseconds monotonic) const { return is_running_ && !is_given(monotonic); }

ExecCluster Credentials::cluster() const {
  ExecCluster cluster{.server = connection_.server,
                      .tls_server_name = connection_.tls_server_name,
                      .proxy = connection_.proxy,
                      .is_unverified = connection_.is_unverified};
  // Without it, the plug-in trusts whom the machine trusts; it may not need it at all.
  (void)read_into(connection_.authority, cluster.authority);
  return cluster;
}

void Credentials::given(const Result<ExecCredential>& credential, Nanoseconds monotonic, Instant wall) {
  is_running_ = false;
  if (!credential) {
    trouble_ = credential.error().message;
    failed_at_ = monotonic;
    return;
  }
  failed_at_.reset();
  trouble_.clear();
  given_ = *credential;
  is_refused_ = false;
  material_.reset();
  expires_.reset();
  renews_.reset();
  if (!given_->expires) return;
  // Whatever the wall clock does from here on: if it is wrong, the server refuses, and it is run again.
  const Nanoseconds life = std::clamp<Nanoseconds>(*given_->expires - wall, Seconds(0), std::chrono::hours(24 * 365));
  expires_ = monotonic + life;
  renews_ = *expires_ - std::min<Nanoseconds>(life / 5, Seconds(60));
}

Result<Material> Credentials::current(Nanoseconds monotonic) {
  if (connection_.exec && !is_given(monotonic)) {
    return fail(Code::unreachable, trouble_.empty() ? "the exec plug-in has not answered yet" : trouble_, "exec");
  }
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
