#include "kube_crowd.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "../krond/host.h"
#include "client.h"
#include "kron/kube/object.h"
#include "kron/kube/reflector.h"
#include "kron/operator/calls.h"
#include "kron/operator/names.h"
#include "parts.h"

namespace kron::bench {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr double kPatience = 300;
constexpr char kNever[] = "0 0 1 1 *";

// A directory that goes with it.
class Directory {
 public:
  Directory() : path_(std::filesystem::temp_directory_path().string() + "/kron-bench-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) give_up("cannot make a directory " + path_);
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// What a watch of a namespace has seen, and when.
class Witness {
 public:
  Witness(Client& client, const std::string& ns, bool is_gated) : client_(client) {
    const auto watch = [&](const std::string& path, auto on_object) {
      kube::Reflector::Listener listener;
      listener.on_object = on_object;
      listener.on_gone = [](const kube::Reflector::Gone&) {};
      reflectors_.push_back(std::make_unique<kube::Reflector>(
          client.transport(), clock_, kube::Reflector::Options{.path = path}, std::move(listener)));
    };
    watch("/apis/kron.io/v1alpha1/namespaces/" + ns + "/kronjobs", [this, is_gated](const Node& object) {
      if (kube::node_at(object, {"status", "observedGeneration"}) == nullptr) return;
      const std::string name = kube::text_at(object, {"metadata", "name"});
      settled_.emplace(name, true);
      const bool is_recorded = kube::text_at(object, {"status", "last", "outcome"}) == "executed";
      if (is_recorded && !is_gated) done_.emplace(name, wall_nanoseconds());
    });
    if (!is_gated) return;
    watch(kronjobs::jobs_path(ns), [this](const Node& object) {
      if (kube::is_true_at(object, {"spec", "suspend"})) return;
      done_.emplace(kube::text_at(object, {"metadata", "name"}), wall_nanoseconds());
    });
  }

  template <class IsDone>
  void wait_until(const char* what, IsDone is_done) {
    const std::int64_t begin = wall_nanoseconds();
    client_.run_until([&] {
      for (const auto& reflector : reflectors_) reflector->tick();
      if (seconds_since(begin) > kPatience) give_up(std::string("not in time: ") + what);
      return is_done();
    });
  }
  void wait_until_listed() {
    wait_until("the lists", [&] {
      return std::ranges::all_of(reflectors_, [](const auto& reflector) { return reflector->has_listed(); });
    });
  }
  [[nodiscard]] std::size_t settled() const { return settled_.size(); }
  [[nodiscard]] std::size_t done() const { return done_.size(); }
  // Seconds behind this time, in order.
  [[nodiscard]] std::vector<double> late(std::int64_t since) const {
    std::vector<double> late;
    for (const auto& [name, at] : done_) late.push_back(static_cast<double>(at - since) / 1e9);
    std::ranges::sort(late);
    return late;
  }

 private:
  Client& client_;
  RealClock clock_;
  std::vector<std::unique_ptr<kube::Reflector>> reflectors_;
  std::map<std::string, bool> settled_;
  std::map<std::string, std::int64_t> done_;
};

// As the operator finds it out: servers that do not know it drop it.
bool knows_suspend(Client& client) {
  const Node tried = parsed(client.ask(
      {kube::Verb::create, kronjobs::jobs_path("default"), "dryRun=All",
       R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"bench"},"spec":{"suspend":true,"template":)"
       R"({"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}})"}));
  return kube::is_true_at(tried, {"spec", "suspend"});
}

void add_namespace(Client& client, const std::string& ns) {
  client.ask({kube::Verb::create, "/api/v1/namespaces", "",
              R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + ns + R"("}})"});
}

void add(Client& client, const std::string& ns, const std::string& begin, std::size_t count,
         const std::string& schedule) {
  std::size_t made = 0;
  for (std::size_t i = 0; i < count; ++i) {
    client.send({kube::Verb::create, "/apis/kron.io/v1alpha1/namespaces/" + ns + "/kronjobs", "",
                 kron_job_text(ns, begin + std::to_string(i), schedule)},
                kube::Lane::call, [&](const std::string&) { ++made; });
  }
  client.run_until([&] { return made == count; });
}

bool has_ended(pid_t pid) {
  int status = 0;
  const pid_t ended = ::waitpid(pid, &status, WNOHANG);
  if (ended == pid && status != 0) give_up("a client of the benchmark has failed");
  return ended == pid;
}

class Round {
 public:
  Round(std::string kubeconfig, std::size_t count, int number, bool is_gated)
      : kubeconfig_(std::move(kubeconfig)),
        count_(count),
        number_(std::to_string(number)),
        is_gated_(is_gated),
        client_(connection_of(kubeconfig_)) {}

  // The seconds from its begin to the last that the watch saw.
  double bare() {
    const std::string ns = "bare-" + std::to_string(::getpid()) + "-" + number_;
    add_namespace(client_, ns);
    add(client_, ns, "bare-", count_, kNever);
    Witness witness(client_, ns, is_gated_);
    witness.wait_until_listed();
    const std::string printed = directory_ / "bare";
    const pid_t pid = spawn("/proc/self/exe",
                            {"operator_bench", is_gated_ ? "bare-runs-in:" + ns : "bare-records-in:" + ns,
                             std::to_string(count_), kubeconfig_},
                            printed, false);
    bool is_over = false;
    witness.wait_until("the bare client", [&] {
      is_over = is_over || has_ended(pid);
      return is_over && witness.done() >= count_;
    });
    const double begin = std::strtod(contents_of(printed).c_str(), nullptr);
    return witness.late(static_cast<std::int64_t>(begin * 1e9)).back();
  }

  // How late each was.
  std::vector<double> crowd() {
    for (std::int64_t room = 10 + static_cast<std::int64_t>(count_) / 25;; room *= 2) {
      const std::string ns = "shop-" + std::to_string(::getpid()) + "-" + number_ + "-" + std::to_string(room);
      add_namespace(client_, ns);
      Witness witness(client_, ns, is_gated_);
      witness.wait_until_listed();
      const std::int64_t due = wall_nanoseconds() / kSecond + room;
      add(client_, ns, "crowd-", count_, cron_at(due));
      // For all namespaces it would see those of earlier rounds.
      const pid_t pid = spawn(KRON_OPERATOR,
                              {"kron-operator", "--kubeconfig", kubeconfig_, "--namespace", ns, "--lease-namespace", ns,
                               "--metrics-listen", "none", "--qps", "100000", "--burst", "100000"},
                              directory_ / "operator.log", true);
      witness.wait_until("all have a status", [&] { return witness.settled() >= count_; });
      const bool is_in_time = wall_nanoseconds() < (due - 1) * kSecond;
      if (!is_in_time && room > 300) give_up("the machine is too slow to prepare a crowd");
      if (is_in_time) witness.wait_until("all have run", [&] { return witness.done() >= count_; });
      ::kill(pid, SIGTERM);
      ::waitpid(pid, nullptr, 0);
      if (is_in_time) return witness.late(due * kSecond);
    }
  }

 private:
  std::string kubeconfig_;
  std::size_t count_;
  std::string number_;
  bool is_gated_;
  Directory directory_;
  Client client_;
};

double middle(std::vector<double> values) {
  std::ranges::sort(values);
  return at_share(values, 0.5);
}

}  // namespace

std::string kube_crowd_json(const std::string& kubeconfig, std::size_t count, int rounds) {
  Client client(connection_of(kubeconfig));
  const bool is_gated = knows_suspend(client);
  std::vector<double> bare;
  std::vector<double> half;
  std::vector<double> last;
  std::vector<double> ratio;
  for (int i = 0; i < rounds; ++i) {
    Round round(kubeconfig, count, i, is_gated);
    bare.push_back(round.bare());
    const std::vector<double> late = round.crowd();
    half.push_back(at_share(late, 0.5));
    last.push_back(late.back());
    ratio.push_back(last.back() / bare.back());
  }
  char text[400];
  std::snprintf(text, sizeof text,
                R"({"due":%zu,"rounds":%d,"steps":"%s","bareSeconds":%.3f,"medianSeconds":%.3f,"lastSeconds":%.3f,)"
                R"("lastToBare":%.2f,"bestLastToBare":%.2f,"worstLastToBare":%.2f})",
                count, rounds, is_gated ? "create, record, open" : "create, record", middle(bare), middle(half),
                middle(last), middle(ratio), *std::ranges::min_element(ratio), *std::ranges::max_element(ratio));
  return text;
}

}  // namespace kron::bench
