#include "model_cluster.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "../krond/host.h"
#include "kron/base/rfc3339.h"
#include "kron/kube/object.h"
#include "kron/operator/names.h"
#include "parts.h"

namespace kron::bench {
namespace {

using kube::ApiServer;
using testing::HttpApiServer;

constexpr double kPatience = 300;
constexpr char kOperator[] = "operator";
constexpr char kOperatorToken[] = "token-of-operator";
constexpr char kBareToken[] = "token-of-bare";

void pause_shortly() { ::usleep(5'000); }

}  // namespace

ModelCluster::ModelCluster() {
  directory_ = std::filesystem::temp_directory_path().string() + "/kron-bench-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) give_up("cannot make a directory " + directory_);
  const testing::Authority authority("authority of the benchmark");
  HttpApiServer::Options options;
  options.tokens = {{kOperatorToken, kOperator}, {kBareToken, "bare"}};
  options.tls = testing::HttpPeer::Tls{.server = authority.issue("model", "IP:127.0.0.1")};
  server_ = std::make_unique<HttpApiServer>(std::move(options));
  std::ofstream(directory_ + "/ca.crt") << authority.certificate();
  for (const auto& [name, token] : {std::pair("operator", kOperatorToken), std::pair("bare", kBareToken)}) {
    std::ofstream(directory_ + "/" + name + ".kubeconfig")
        << "apiVersion: v1\nkind: Config\ncurrent-context: m\ncontexts:\n- name: m\n  context: {cluster: m, user: u}\n"
        << "clusters:\n- name: m\n  cluster: {server: '" << server_->url() << "', certificate-authority: ca.crt}\n"
        << "users:\n- name: u\n  user: {token: " << token << "}\n";
  }
}

ModelCluster::~ModelCluster() {
  end_operator();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

ModelCluster::Bare ModelCluster::bare(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), "operator_bench");
  arguments.push_back(directory_ + "/bare.kubeconfig");
  const std::string printed = directory_ + "/bare";
  const pid_t pid = spawn("/proc/self/exe", arguments, printed, false);
  int status = 0;
  rusage used{};
  if (::wait4(pid, &status, 0, &used) != pid || status != 0) give_up("the bare client ends");
  Bare bare;
  std::ifstream file(printed);
  for (double seconds = 0; file >> seconds;) bare.seconds.push_back(seconds);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  bare.cpu = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  return bare;
}

void ModelCluster::add(const std::string& ns, const std::string& name, const std::string& schedule) {
  const Node object = parsed(kron_job_text(ns, name, schedule));
  server_->with_server([&](ApiServer& server) {
    if (server.create("kronjobs", object).code != 201) give_up("the model takes no KronJob " + name);
  });
}

void ModelCluster::add_history(const std::string& name, std::int64_t second) {
  server_->with_server([&](ApiServer& server) {
    const std::string uid = kube::text_at(*server.find("kronjobs", kShop, name), {"metadata", "uid"});
    for (int i = 0; i < 4; ++i) {
      const Instant period = instant_of(second - 3600 * (i + 1));
      const std::string time = rfc3339(period);
      const std::string job = kronjobs::job_name(kShop, name, period);
      const kube::Answer made = server.create(
          "jobs", parsed(R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"shop","name":")" + job +
                         R"(","labels":{"kron.io/name":")" + name +
                         R"(","kron.io/period":"0123456789"},"annotations":{)" + R"("kron.io/identity":"shop/)" + name +
                         R"(","kron.io/period-id":")" + time + R"(","kron.io/nominal-time":")" + time +
                         R"(","kron.io/chosen-time":")" + time + R"(","kron.io/decision":")" + std::string(400, 'x') +
                         R"(","kron.io/trigger":"schedule"},"ownerReferences":[{"apiVersion":"kron.io/v1alpha1",)" +
                         R"("kind":"KronJob","name":")" + name + R"(","uid":")" + uid +
                         R"(","controller":true}]},"spec":)" + kJobSpec + "}"));
      if (made.code != 201) give_up("the model takes no Job " + job);
      server.finish(kShop, job, i > 0);
    }
  });
}

double ModelCluster::start_operator(const std::vector<std::string>& flags) {
  std::vector<std::string> words{"kron-operator",    "--kubeconfig",      directory_ + "/operator.kubeconfig",
                                 "--leader-elect",   "--lease-namespace", "kron",
                                 "--metrics-listen", "127.0.0.1:0"};
  words.insert(words.end(), flags.begin(), flags.end());
  const std::string log = directory_ + "/operator.log";
  server_->forget_calls();
  const std::int64_t begin = wall_nanoseconds();
  pid_ = spawn(KRON_OPERATOR, words, log, true);
  while (server_->watches() < 2) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) give_up("kron-operator ended: " + contents_of(log));
    if (seconds_since(begin) > kPatience) give_up("kron-operator does not get ready: " + contents_of(log));
    pause_shortly();
  }
  return seconds_since(begin);
}

void ModelCluster::end_operator() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  // So that the next one counts only its own.
  while (server_->watches() > 0) {
    server_->cut_watches();
    pause_shortly();
  }
}

ModelCluster::Calls ModelCluster::Calls::operator-(const Calls& before) const {
  return {lease - before.lease, lists - before.lists, watches - before.watches, others - before.others};
}

ModelCluster::Calls ModelCluster::calls() const {
  Calls count;
  for (const auto& [call, times] : server_->calls()) {
    const auto& [user, verb, resource, code] = call;
    if (user != kOperator) continue;
    int& kind = resource == "leases" ? count.lease
                : verb == "list"     ? count.lists
                : verb == "watch"    ? count.watches
                                     : count.others;
    kind += times;
  }
  return count;
}

void ModelCluster::wait_until_settled(const std::string& begin) {
  const std::int64_t since = wall_nanoseconds();
  const auto is_settled = [&] {
    return server_->with_server([&](const ApiServer& server) {
      return std::ranges::all_of(server.list("kronjobs"), [&](const ApiServer::Object& object) {
        return !kube::text_at(*object, {"metadata", "name"}).starts_with(begin) ||
               kube::node_at(*object, {"status", "observedGeneration"}) != nullptr;
      });
    });
  };
  while (!is_settled()) {
    if (seconds_since(since) > kPatience) give_up("kron-operator does not settle");
    ::usleep(200'000);
  }
  for (int last = -1; last != calls().others; ::usleep(500'000)) last = calls().others;
}

std::vector<std::int64_t> ModelCluster::starts(const std::string& identity) const {
  std::vector<std::int64_t> times;
  for (const HttpApiServer::Start& start : server_->started()) {
    if (start.job.identity.starts_with(identity)) times.push_back(start.at.time_since_epoch().count());
  }
  return times;
}

std::vector<std::int64_t> ModelCluster::wait_for_starts(const std::string& identity, std::size_t count,
                                                        double seconds) const {
  const std::int64_t begin = wall_nanoseconds();
  while (true) {
    std::vector<std::int64_t> times = starts(identity);
    if (times.size() >= count || seconds_since(begin) > seconds) return times;
    ::usleep(50'000);
  }
}

}  // namespace kron::bench
