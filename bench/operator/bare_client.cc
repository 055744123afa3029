#include "bare_client.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

#include "../krond/host.h"
#include "bare_steps.h"
#include "client.h"
#include "kron/kube/object.h"
#include "kron/kube/wire.h"
#include "kron/operator/calls.h"

namespace kron::bench {
namespace {

using kube::Lane;

Node object_in(const std::string& body) {
  Result<Node> object = kube::read_body(body);
  if (!object) give_up(object.error().message);
  return *std::move(object);
}

kronjobs::KronJobView view_in(const std::string& body, ZoneDatabase& zones) {
  Result<kronjobs::KronJobView> view = kronjobs::view_kron_job(object_in(body), zones);
  if (!view) give_up(view.error().message);
  return *std::move(view);
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
  BareRuns(const kube::Connection& connection, std::string ns, std::size_t count, const BareRunsOptions& options)
      : ns_(std::move(ns)), options_(options), steps_(count), client_(connection) {
    if (options_.with_watches) {
      watch("/apis/kron.io/v1alpha1/namespaces/" + ns_ + "/kronjobs", "");
      watch("/apis/batch/v1/namespaces/" + ns_ + "/jobs", "&labelSelector=kron.io%2Fname");
    }
    ZoneDatabase zones;
    const auto gate = options_.is_gated ? kronjobs::GateKind::ours : kronjobs::GateKind::ungated;
    std::size_t known = 0;
    for (std::size_t i = 0; i < count; ++i) {  // warms the connections too
      const std::string path = kronjobs::kron_job_path(ns_, "bare-" + std::to_string(i));
      client_.send({.path = path}, Lane::call, [&, i](const std::string& seen) {
        client_.send(first_status(view_in(seen, zones), gate), Lane::call, [&, i](const std::string& written) {
          steps_[i] = next_steps(view_in(written, zones), gate);
          ++known;
        });
      });
    }
    client_.run_until([&] { return known == count; });
  }

  void begin(std::size_t i) {
    client_.send(std::move(steps_[i].create), Lane::call, [this, i](const std::string& made) {
      record(i, kube::text_at(object_in(made), {"metadata", "uid"}));
    });
  }
  void wait_for(std::size_t count) {
    client_.run_until([&] { return done_ == count; });
  }

 private:
  void watch(const std::string& path, const std::string& selector) {
    const Result<kube::ListPage> page = kube::read_list_page(client_.ask({.path = path, .query = "limit=1"}));
    if (!page) give_up(page.error().message);
    client_.open({.path = path, .query = "watch=1&resourceVersion=" + page->resource_version + selector},
                 [](std::string_view) {});
  }
  void record(std::size_t i, const std::string& uid) {
    client_.send(with_uid(std::move(steps_[i].record), uid), Lane::call, [this, i, uid](const std::string&) {
      if (!options_.is_gated) return void(++done_);
      client_.send(with_uid(std::move(steps_[i].open), uid), Lane::call, [this](const std::string&) { ++done_; });
    });
  }

  std::string ns_;
  BareRunsOptions options_;
  std::vector<BareSteps> steps_;
  std::size_t done_ = 0;
  Client client_;
};

}  // namespace

double bare_runs(const kube::Connection& connection, const std::string& ns, std::size_t count,
                 const BareRunsOptions& options) {
  BareRuns runs(connection, ns, count, options);
  const std::int64_t begin = wall_nanoseconds();
  for (std::size_t i = 0; i < count; ++i) runs.begin(i);
  runs.wait_for(count);
  return seconds_since(begin);
}

std::vector<double> bare_timed_runs(const kube::Connection& connection, const std::string& ns, std::size_t count) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  BareRuns runs(connection, ns, count, {});
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
  Client client(connection);
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
