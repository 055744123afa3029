#include <chrono>
#include <cstdlib>

#include "answer_text.h"
#include "daemon_client.h"
#include "doctor.h"
#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"

namespace kron::cli {
namespace {

constexpr char kUrl[] = "url";
constexpr std::chrono::days kSoonOut(14);
// Both are told in whole seconds.
constexpr Seconds kSameTime(2);
constexpr Seconds kFarOff(60);

void judge_certificate(const http::TlsPeer& peer, Instant now, Findings& findings) {
  const auto left = std::chrono::floor<std::chrono::days>(peer.expires - now);
  const std::string what = "a certificate of " + peer.issuer + " that is accepted, by " + peer.protocol +
                           "; it runs out in " + std::to_string(left.count()) + (left.count() == 1 ? " day" : " days") +
                           ", at " + rfc3339(peer.expires);
  if (left >= kSoonOut) return findings.push_back({Verdict::ok, "tls", what});
  findings.push_back({Verdict::warning, "tls", what,
                      "renew it; `kron web` takes a new one from the same files within a minute, or at `kill -HUP`"});
}

void judge_clock(const Node& status, Instant asked, Instant answered, Findings& findings) {
  const auto told = parse_rfc3339(text_in(status, "now"));
  if (!told) return;
  const Seconds shift(static_cast<std::int64_t>(std::strtod(text_in(status, "clockOffsetSeconds").c_str(), nullptr)));
  const Instant there = *told - shift;
  // It was that time there at some moment between the two here.
  const Seconds skew = there < asked ? there - asked : there > answered ? there - answered : Seconds(0);
  if (abs(skew) <= kSameTime) {
    return findings.push_back({Verdict::ok, "clock", "the clock there is that of this host"});
  }
  findings.push_back({abs(skew) > kFarOff ? Verdict::problem : Verdict::warning, "clock",
                      "the clock there is " + duration_text(abs(skew)) + (skew > Seconds(0) ? " ahead of" : " behind") +
                          " that of this host",
                      "run a time service (chrony, systemd-timesyncd) on both: times, expiry and certificates go by "
                      "them"});
}

void judge_role(const Node& status, const http::Endpoint& krond, Findings& findings) {
  const Node* you = status.find("you");
  if (you == nullptr) return;
  findings.push_back({Verdict::ok, "token",
                      (krond.token.empty() ? "none is needed: " : "") + text_in(*you, "name") + " has the role " +
                          text_in(*you, "role")});
}

std::string cure_of(const Error& error, const http::Endpoint& krond, bool is_connected) {
  if (error.code == Code::unreachable) {
    return "start `kron web` there (kron-web.socket), and let its port through; --url says where it is";
  }
  if (error.code != Code::refused) return "--url says where `kron web` listens";
  if (!is_connected) return "name its authority with --ca-file, or give it a certificate that is for " + krond.host;
  return "make a token there with `kron token create`, and name its file with --token-file";
}

}  // namespace

void examine_remote(const http::Endpoint& krond, const std::function<Instant()>& now, Findings& findings) {
  DaemonClient client(krond);
  const Instant asked = now();
  const auto body = client.status_with_changes();
  const Instant answered = now();
  const auto& peer = client.peer();
  const bool is_connected = peer || body || (krond.tls == nullptr && body.error().code != Code::unreachable);
  if (is_connected) findings.push_back({Verdict::ok, kUrl, krond.text() + " answers"});
  if (peer) judge_certificate(*peer, answered, findings);
  if (!body) {
    const char* about = !is_connected && body.error().code == Code::refused ? "tls"
                        : body.error().code == Code::refused                ? "token"
                                                                            : kUrl;
    return findings.push_back(
        {Verdict::problem, about, body.error().message, cure_of(body.error(), krond, is_connected)});
  }
  const auto status = parsed_answer(*body);
  if (!status) {
    return findings.push_back(
        {Verdict::problem, kUrl, status.error().message, "--url says where `kron web` listens, not another server"});
  }
  findings.push_back({Verdict::ok, kUrl,
                      "krond " + text_in(*status, "version") + " on " + text_in(*status, "host") + ", " +
                          text_in(*status, "jobs") + " jobs"});
  judge_role(*status, krond, findings);
  judge_clock(*status, asked, answered, findings);
  judge_status(*status, kUrl, findings);
}

}  // namespace kron::cli
