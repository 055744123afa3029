#include "client.h"

#include <optional>
#include <poll.h>
#include <utility>

#include "../krond/host.h"
#include "kron/jobs/disk.h"

namespace kron::bench {

using kube::Outcome;

Client::Client(const kube::Connection& connection) {
  kube::Credentials credentials(connection, [](const std::string& path) { return jobs::contents_of(path); });
  auto started = kube::CurlTransport::start(std::move(credentials), clock_, mailbox_);
  if (!started) give_up(started.error().message);
  transport_ = *std::move(started);
}

void Client::send(kube::Request request, kube::Lane lane, std::function<void(const std::string& body)> then) {
  transport_->send(std::move(request), lane, [then = std::move(then)](const Outcome& outcome) {
    const auto* response = std::get_if<kube::Response>(&outcome);
    if (response == nullptr) give_up(std::get<kube::Broken>(outcome).message);
    if (response->code >= 300) give_up("the server answered " + response->body);
    then(response->body);
  });
}

void Client::open(kube::Request request, std::function<void(std::string_view bytes)> then) {
  transport_->open(std::move(request), std::move(then), [](const Outcome&) { give_up("a watch has ended"); });
}

void Client::run_until(const std::function<bool()>& is_done) {
  while (!is_done()) {
    pollfd waited{.fd = mailbox_.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, 1'000);
    mailbox_.work_off(Seconds(1));
  }
}

std::string Client::ask(kube::Request request) {
  std::optional<std::string> answer;
  send(std::move(request), kube::Lane::call, [&](const std::string& body) { answer = body; });
  run_until([&] { return answer.has_value(); });
  return *answer;
}

}  // namespace kron::bench
