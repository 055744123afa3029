#include "kron/daemon/ping_post.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kron/base/sha256.h"
#include "kron/env/deadline.h"
#include "kron/http/client.h"
#include "kron/jobs/ping_url.h"
#include "kron/runner/output_reader.h"
#include "kron/runner/run_files.h"

namespace kron::daemon {
namespace {

constexpr std::size_t kMostAnswer = std::size_t{64} << 10;
// Authorities may change while krond runs, and reading all of them takes longer than a ping.
constexpr Nanoseconds kTrustLasts = std::chrono::minutes(1);

// Whom to trust, for all threads.
class PingTrust {
 public:
  Result<std::shared_ptr<const http::TlsContext>> get() {
    const std::scoped_lock lock(mutex_);
    if (context_ && std::chrono::steady_clock::now() < until_) return context_;
    auto context = http::TlsContext::for_client();
    if (!context) return context;
    context_ = *context;
    until_ = deadline_after(kTrustLasts);
    return context_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const http::TlsContext> context_;
  Deadline until_ = {};
};

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The end of what the run wrote, from the first whole character on.
std::string end_of_output(const std::string& state_directory, std::string_view run_id) {
  const Result<runner::RunFiles> files = runner::RunFiles::open(state_directory);
  if (!files) return {};
  Result<runner::OutputReader> reader = runner::OutputReader::open(*files, run_id);
  if (!reader) return {};
  const Result<std::uint64_t> size = reader->size();
  if (!size) return {};
  const std::uint64_t from = *size - std::min<std::uint64_t>(*size, kMostPingBody);
  Result<std::string> bytes = reader->read(from, kMostPingBody);
  if (!bytes) return {};
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  if (from > 0) bytes->erase(bytes->begin(), std::find_if_not(bytes->begin(), bytes->end(), continues));
  return *std::move(bytes);
}

// Of one thread.
class PingConnection {
 public:
  PingConnection(std::string state_directory, std::shared_ptr<PingTrust> trust)
      : state_directory_(std::move(state_directory)), trust_(std::move(trust)) {}

  Status post(const Ping& ping, Nanoseconds most) {
    const Deadline until = deadline_after(most);
    const std::string_view place = jobs::place_of_url(*ping.url);
    if (Status open = go_to(place); !open) return open;
    std::string body = ping.is_end ? end_of_output(state_directory_, ping.run_id) : std::string();
    if (body.empty()) body = ping.body.substr(0, kMostPingBody);
    client_->give_up_at(until);
    const std::string target = ping.url->substr(place.size()) + ping_target(ping);
    const Result<http::Response> answer = client_->request(
        "POST", target, body, {{"Content-Type", "text/plain; charset=utf-8"}, {"User-Agent", "krond"}});
    if (!answer) return fail(answer.error());
    if (answer->status >= 200 && answer->status < 300) return {};
    return fail(Code::unreachable, "the receiver has answered with status " + std::to_string(answer->status));
  }

 private:
  // Keeps the connection to the one before if it is the same.
  Status go_to(std::string_view place) {
    if (client_ && place_ == place && (!tls_ || trusts_still())) return {};
    client_.reset();
    const Result<http::Url> url = http::parse_url(place);
    if (!url) return fail(url.error());
    http::Endpoint server;
    server.host = url->host;
    server.port = url->port;
    tls_.reset();
    if (url->is_tls) {
      auto context = trust_->get();
      if (!context) return fail(context.error());
      server.tls = tls_ = *context;
    }
    place_ = place;
    client_.emplace(
        std::move(server),
        http::Client::Options{.timeout = PingQueue::kOneTry, .cure = "is the receiver up?", .most_body = kMostAnswer});
    return {};
  }

  // What was trusted when it was connected is trusted as long as others are connected by it.
  bool trusts_still() const {
    const auto context = trust_->get();
    return context && *context == tls_;
  }

  std::string state_directory_;
  std::shared_ptr<PingTrust> trust_;
  std::string place_;
  std::shared_ptr<const http::TlsContext> tls_;
  std::optional<http::Client> client_;
};

}  // namespace

std::string uuid_of_run(std::string_view run_id) {
  constexpr std::size_t kDigits = 32;
  std::string digits(run_id);
  if (digits.size() != kDigits || !std::ranges::all_of(digits, is_hex_digit)) {
    digits = hex(sha256({run_id})).substr(0, kDigits);
  }
  for (const std::size_t at : {20U, 16U, 12U, 8U}) digits.insert(at, "-");
  return digits;
}

std::string ping_target(const Ping& ping) {
  return "/" + ping.signal + (ping.run_id.empty() ? "" : "?rid=" + uuid_of_run(ping.run_id));
}

std::function<PingSender::Post()> ping_posts(std::string state_directory) {
  return [state_directory = std::move(state_directory), trust = std::make_shared<PingTrust>()]() -> PingSender::Post {
    auto connection = std::make_shared<PingConnection>(state_directory, trust);
    return [connection](const Ping& ping, Nanoseconds most) { return connection->post(ping, most); };
  };
}

}  // namespace kron::daemon
