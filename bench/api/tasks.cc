#include "tasks.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "../krond/host.h"
#include "aside.h"
#include "asking.h"
#include "kron/env/clock.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/real_file_system.h"
#include "kron/http/client.h"
#include "kron/json/document.h"
#include "kron/queue/file_queue.h"
#include "kron/queue/queue_thread.h"

namespace kron::bench {
namespace {

constexpr char kType[] = "REPORT";
constexpr char kData[] = R"({"customer":4711,"month":"2026-01","format":"pdf","to":"someone@example.com"})";
constexpr std::size_t kAtOnce = 1000;

void require(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "api_bench: %s\n", what.c_str());
  std::abort();
}

std::string id_of(std::size_t number) { return "report-" + std::to_string(1'000'000 + number); }

std::string posted(http::Client& client, const std::string& target, const std::string& body) {
  const auto answer = client.request("POST", target, body);
  require(answer.has_value(), answer ? "" : answer.error().message);
  require(answer->status == 200, target + ": " + answer->body);
  return answer->body;
}

void lease_and_commit(http::Client& client) {
  const auto answer = parse_json(posted(client, "/api/v1/leases", R"({"worker":"w","n":1,"start":true})"));
  require(answer.has_value() && answer->find("leases") != nullptr, "an answer without leases");
  const auto* leases = answer->find("leases")->as<Node::List>();
  require(leases != nullptr && leases->size() == 1, "no task to lease");
  const std::string& id = *leases->front().find("execId")->as<std::string>();
  const std::int64_t token = *leases->front().find("token")->as<std::int64_t>();
  posted(client, "/api/v1/leases/" + id + "/commit", "{\"token\":" + std::to_string(token) + ",\"result\":\"ok\"}");
}

// Workers as chains of questions, each the answer to the one before; all of it on the queue's thread.
class Chains {
 public:
  Chains(QueueThread& queue, std::int64_t count) : queue_(queue), to_lease_(count), to_commit_(count) {}

  void lease_next() {
    if (to_lease_-- <= 0) return;
    queue_.lease({.worker = "w", .count = 1, .starts = true}, Seconds(0), [this](const auto& leases) {
      require(leases.has_value() && leases->size() == 1, "no task to lease");
      queue_.commit({.key = leases->front().key, .result = "ok"}, [this](const auto& answer) {
        require(answer.has_value() && answer->outcome == LeaseOutcome::accepted, "a commit that was refused");
        lease_next();
        if (--to_commit_ == 0) done_.set_value();
      });
      return true;
    });
  }
  void wait() { done_.get_future().wait(); }

 private:
  QueueThread& queue_;
  std::atomic<std::int64_t> to_lease_;  // the first of a chain by the thread that waits, the rest by the queue's
  std::int64_t to_commit_;
  std::promise<void> done_;
};

}  // namespace

void submit_tasks(const std::string& socket, std::size_t count) {
  http::Client client(socket);
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    std::string body = "{\"tasks\":[";
    for (std::size_t i = first; i < std::min(first + kAtOnce, count); ++i) {
      if (i != first) body += ',';
      body += "{\"taskId\":\"" + id_of(i) + "\",\"payload\":{\"type\":\"" + kType + "\",\"data\":" + kData + "}}";
    }
    posted(client, "/api/v1/tasks", body + "]}");
  }
}

double leases_to_commits(const std::string& socket, std::size_t workers, std::size_t count) {
  Aside<double> process(kClientNiceness, [&](const auto& tell) {
    std::atomic<std::size_t> next{0};
    const std::int64_t begin = wall_nanoseconds();
    {
      std::vector<std::jthread> running;
      for (std::size_t i = 0; i < workers; ++i) {
        running.emplace_back([&] {
          http::Client client(socket);
          while (next++ < count) lease_and_commit(client);
        });
      }
    }
    tell(static_cast<double>(count) / seconds_since(begin));
  });
  const auto rate = process.next();
  require(rate.has_value(), "the workers failed");
  return *rate;
}

double leases_to_commits_without_http(const std::string& directory, std::size_t workers, std::size_t count) {
  RealFileSystem files;
  const RealClock clock;
  testing::SilentLog log;
  QueueThread queue(file_queue_opener(files, clock, log, directory), clock, log, {.place = directory});
  std::vector<NewTask> tasks(count);
  for (std::size_t i = 0; i < count; ++i) {
    tasks[i].id = id_of(i);
    tasks[i].type = kType;
    tasks[i].data = kData;
  }
  std::promise<void> submitted;
  queue.submit(std::move(tasks), [&](const auto&) { submitted.set_value(); });
  submitted.get_future().wait();
  Chains chains(queue, static_cast<std::int64_t>(count));
  const std::int64_t begin = wall_nanoseconds();
  for (std::size_t i = 0; i < workers; ++i) chains.lease_next();
  chains.wait();
  return static_cast<double>(count) / seconds_since(begin);
}

}  // namespace kron::bench
