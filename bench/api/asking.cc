#include "asking.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <vector>

#include "../krond/host.h"
#include "kron/env/fake/silent_log.h"
#include "kron/http/client.h"
#include "kron/http/server.h"
#include "kron/http/unix_socket.h"

namespace kron::bench {
namespace {

using Steady = std::chrono::steady_clock;

void count(Answers& answers, const Result<http::Response>& answer) {
  if (answer && answer->status == 200) {
    ++answers.good;
    answers.bytes += answer->body.size();
    return;
  }
  if (answers.failed++ == 0) {
    std::fprintf(stderr, "api_bench: %s\n", answer ? answer->body.c_str() : answer.error().message.c_str());
  }
}

Answers ask(const Question& question) {
  Answers answers;
  std::vector<http::Client> clients;
  const auto send = [&](http::Client& client) {
    if (const Status sent = client.begin("GET", question.target); !sent) count(answers, fail(sent.error()));
  };
  for (int i = 0; i < question.connections; ++i) send(clients.emplace_back(question.socket));
  const auto end = Steady::now() + std::chrono::duration<double>(question.seconds);
  std::vector<pollfd> waited(clients.size());
  while (Steady::now() < end) {
    for (std::size_t i = 0; i < clients.size(); ++i) waited[i] = {clients[i].descriptor(), POLLIN, 0};
    ::poll(waited.data(), waited.size(), 100);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (clients[i].descriptor() < 0) send(clients[i]);
      if (waited[i].revents == 0) continue;
      const auto answer = clients[i].poll();
      if (!answer) continue;
      count(answers, *answer);
      send(clients[i]);
    }
  }
  return answers;
}

}  // namespace

Aside<Answers> begin_asking(const Question& question) {
  return Aside<Answers>(kClientNiceness, [&](const auto& tell) { tell(ask(question)); });
}

Cost cost_of(const Question& question, pid_t server) {
  const double before = cpu_seconds_of(server);
  const std::int64_t begin = wall_nanoseconds();
  Aside<Answers> clients = begin_asking(question);
  Cost cost;
  cost.answers = clients.next().value_or(Answers{});
  const double count = static_cast<double>(cost.answers.good);
  cost.per_second = count / seconds_since(begin);
  cost.cpu_microseconds = (cpu_seconds_of(server) - before) * 1e6 / count;
  return cost;
}

EchoServer::EchoServer(std::string socket, std::size_t body_bytes)
    : process_(0, [&](const auto& tell) {
        testing::SilentLog log;
        const std::string body = "{\"echo\":\"" + std::string(body_bytes - 11, 'x') + "\"}";
        auto listener = http::UnixListener::open(socket, 0600, std::nullopt, [](const http::Credentials&) {
          return http::Principal{.name = "client", .is_preferred = true};
        });
        http::Server::Listeners listeners;
        if (listener) listeners.push_back(std::make_unique<http::UnixListener>(*std::move(listener)));
        const auto server = http::Server::start(
            std::move(listeners), {}, [&](const http::Request&, http::Reply reply) { reply.send({.body = body}); },
            log);
        tell(server.has_value());
        while (true) ::pause();
      }) {
  if (!process_.next().value_or(false)) std::abort();
}

}  // namespace kron::bench
