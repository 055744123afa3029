#include "bare_client.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <poll.h>
#include <utility>
#include <vector>

#include "../krond/host.h"
#include "kron/env/mailbox.h"
#include "kron/kube/curl_transport.h"
#include "kron/kube/object.h"
#include "kron/kube/wire.h"

namespace kron::bench {
namespace {

using kube::Lane;
using kube::Outcome;
using kube::Verb;

class BareClient {
 public:
  explicit BareClient(const kube::Connection& connection) {
    kube::Credentials credentials(
        connection, [](const std::string& path) -> Result<std::string> { return fail(Code::not_found, path); });
    auto started = kube::CurlTransport::start(std::move(credentials), clock_, mailbox_);
    if (!started) give_up(started.error().message);
    transport_ = *std::move(started);
  }

  // Ends the benchmark if the answer is none that was wanted.
  void send(kube::Request request, Lane lane, std::function<void(const std::string& body)> then) {
    transport_->send(std::move(request), lane, [then = std::move(then)](const Outcome& outcome) {
      const auto* response = std::get_if<kube::Response>(&outcome);
      if (response == nullptr) give_up(std::get<kube::Broken>(outcome).message);
      if (response->code >= 300) give_up("the model answered " + response->body);
      then(response->body);
    });
  }
  void run_until(const std::function<bool()>& is_done) {
    while (!is_done()) {
      pollfd waited{.fd = mailbox_.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&waited, 1, 10'000);
      mailbox_.work_off(Seconds(1));
    }
  }

 private:
  RealClock clock_;
  Mailbox mailbox_;
  std::unique_ptr<kube::CurlTransport> transport_;
};

// As large as those that an operator writes.
std::string job_body(const std::string& name) {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
         R"(","labels":{"kron.io/name":"bare","kron.io/period":"0123456789"},"annotations":{"kron.io/gate":"1",)"
         R"("kron.io/identity":"bare/)" +
         name + R"(","kron.io/period-id":"2026-11-17T10:00:00Z","kron.io/decision":")" + std::string(600, 'x') +
         R"("}},"spec":{"suspend":true,"template":{"metadata":{"annotations":{"kron.io/period-id":)"
         R"("2026-11-17T10:00:00Z"}},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":)"
         R"("registry.example.com/shop/report:1.2.3","command":["/usr/local/bin/report","--customer","4711"]}]}}}})";
}

std::string status_body(const std::string& ns, const std::string& name, const std::string& version,
                        const std::string& uid) {
  return R"({"apiVersion":"kron.io/v1alpha1","kind":"KronJob","metadata":{"name":")" + name + R"(","namespace":")" +
         ns + R"(","resourceVersion":")" + version + R"("},"status":{"observedGeneration":1,"starting":[{"jobName":")" +
         name + R"(","jobUID":")" + uid + R"("}],"note":")" + std::string(1000, 'x') + R"("}})";
}

std::string open_body(const std::string& uid) {
  return R"([{"op":"test","path":"/metadata/uid","value":")" + uid +
         R"("},{"op":"remove","path":"/metadata/annotations/kron.io~1gate"},)"
         R"({"op":"add","path":"/spec/suspend","value":false}])";
}

std::string meta_in(const std::string& body, std::string_view key) {
  const Result<Node> object = kube::read_body(body);
  if (!object) give_up(object.error().message);
  return kube::text_at(*object, {"metadata", key});
}

// The token of the next page, without reading the rest of it.
std::string next_in(const std::string& body) {
  constexpr std::string_view kKey = R"("continue":")";
  const std::string_view head = std::string_view(body).substr(0, 400);  // before the items
  const std::size_t at = head.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + kKey.size();
  return body.substr(begin, body.find('"', begin) - begin);
}

class BareRuns {
 public:
  BareRuns(const kube::Connection& connection, std::string ns, std::size_t count)
      : ns_(std::move(ns)),
        kron_jobs_("/apis/kron.io/v1alpha1/namespaces/" + ns_ + "/kronjobs/"),
        jobs_("/apis/batch/v1/namespaces/" + ns_ + "/jobs"),
        versions_(count),
        client_(connection) {
    std::size_t known = 0;
    for (std::size_t i = 0; i < count; ++i) {  // warms the connections too
      client_.send({.path = kron_jobs_ + name_of(i)}, Lane::call, [this, &known, i](const std::string& body) {
        versions_[i] = meta_in(body, "resourceVersion");
        ++known;
      });
    }
    client_.run_until([&] { return known == count; });
  }

  void begin(std::size_t i) {
    client_.send({Verb::create, jobs_, "", job_body(name_of(i))}, Lane::call,
                 [this, i](const std::string& made) { record(i, meta_in(made, "uid")); });
  }
  void wait_for(std::size_t count) {
    client_.run_until([&] { return done_ == count; });
  }

 private:
  static std::string name_of(std::size_t i) { return "bare-" + std::to_string(i); }

  void record(std::size_t i, const std::string& uid) {
    client_.send(
        {Verb::update, kron_jobs_ + name_of(i) + "/status", "", status_body(ns_, name_of(i), versions_[i], uid)},
        Lane::call, [this, i, uid](const std::string&) { open(i, uid); });
  }
  void open(std::size_t i, const std::string& uid) {
    client_.send({Verb::patch, jobs_ + "/" + name_of(i), "", open_body(uid)}, Lane::call,
                 [this](const std::string&) { ++done_; });
  }

  std::string ns_;
  std::string kron_jobs_;
  std::string jobs_;
  std::vector<std::string> versions_;
  std::size_t done_ = 0;
  BareClient client_;
};

}  // namespace

double bare_runs(const kube::Connection& connection, const std::string& ns, std::size_t count) {
  BareRuns runs(connection, ns, count);
  const std::int64_t begin = wall_nanoseconds();
  for (std::size_t i = 0; i < count; ++i) runs.begin(i);
  runs.wait_for(count);
  return seconds_since(begin);
}

std::vector<double> bare_timed_runs(const kube::Connection& connection, const std::string& ns, std::size_t count) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  BareRuns runs(connection, ns, count);
  std::vector<double> late;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t due = (wall_nanoseconds() / kSecond + 1) * kSecond + kSecond / 2;
    const timespec at{.tv_sec = due / kSecond, .tv_nsec = due % kSecond};
    ::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, nullptr);
    runs.begin(i);
    runs.wait_for(i + 1);
    late.push_back(seconds_since(due));
  }
  std::ranges::sort(late);
  return late;
}

double bare_lists(const kube::Connection& connection, bool parses) {
  const std::int64_t begin = wall_nanoseconds();
  BareClient client(connection);
  int left = 2;
  std::size_t objects = 0;
  struct Kind {
    std::string path;
    std::string selector;
  };
  std::function<void(const Kind&, const std::string&)> ask = [&](const Kind& kind, const std::string& next) {
    std::string query = "limit=500" + kind.selector;
    if (!next.empty()) query += "&continue=" + kube::percent_encoded(next);
    client.send({.path = kind.path, .query = std::move(query)}, Lane::list, [&, kind](const std::string& body) {
      std::string then;
      if (parses) {
        Result<kube::ListPage> page = kube::read_list_page(body);
        if (!page) give_up(page.error().message);
        objects += page->items.size();
        then = page->next;
      } else {
        then = next_in(body);
      }
      then.empty() ? void(--left) : ask(kind, then);
    });
  };
  ask({"/apis/kron.io/v1alpha1/kronjobs", ""}, "");
  ask({"/apis/batch/v1/jobs", "&labelSelector=kron.io%2Fname"}, "");
  client.run_until([&] { return left == 0; });
  if (parses && objects == 0) give_up("there is nothing to list");
  return seconds_since(begin);
}

}  // namespace kron::bench
