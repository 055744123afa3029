#include "model_cluster.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "../krond/host.h"
#include "kron/base/rfc3339.h"
#include "kron/kube/object.h"
#include "kron/operator/names.h"

namespace kron::bench {
namespace {

using kube::ApiServer;
using testing::HttpApiServer;

constexpr double kPatience = 300;
constexpr char kOperator[] = "operator";

Node parsed(const std::string& text) {
  Result<Node> node = parse_json(text);
  if (!node) give_up(node.error().message);
  return *std::move(node);
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

pid_t spawn(const char* program, std::vector<std::string> words, const std::string& output, bool with_errors) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (with_errors) posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  if (::posix_spawn(&pid, program, &files, nullptr, arguments.data(), environ) != 0) {
    give_up("cannot start " + words.front());
  }
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

void pause_shortly() { ::usleep(5'000); }

// Of the pods, as a template of a user has it.
constexpr char kPod[] =
    R"({"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":)"
    R"("registry.example.com/shop/report:1.2.3","command":["/usr/local/bin/report","--customer","4711","--format",)"
    R"("pdf"],"env":[{"name":"LEVEL","value":"info"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}}})";

}  // namespace

ModelCluster::ModelCluster() {
  directory_ = std::filesystem::temp_directory_path().string() + "/kron-bench-XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) give_up("cannot make a directory " + directory_);
  const testing::Authority authority("authority of the benchmark");
  HttpApiServer::Options options;
  options.tokens = {{"token-of-operator", kOperator}, {kBareToken, "bare"}};
  options.tls = testing::HttpPeer::Tls{.server = authority.issue("model", "IP:127.0.0.1")};
  server_ = std::make_unique<HttpApiServer>(std::move(options));
  std::ofstream(directory_ + "/ca.crt") << authority.certificate();
  std::ofstream(directory_ + "/kubeconfig")
      << "apiVersion: v1\nkind: Config\ncurrent-context: m\ncontexts:\n- name: m\n  context: {cluster: m, user: u}\n"
      << "clusters:\n- name: m\n  cluster: {server: '" << server_->url() << "', certificate-authority: ca.crt}\n"
      << "users:\n- name: u\n  user: {token: token-of-operator}\n";
}

ModelCluster::~ModelCluster() {
  end_operator();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

ModelCluster::Bare ModelCluster::bare(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), "operator_bench");
  arguments.insert(arguments.end(), {server_->url(), directory_ + "/ca.crt"});
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
  const Node object =
      parsed(R"({"apiVersion":"kron.io/v1alpha1","kind":"KronJob","metadata":{"name":")" + name + R"(","namespace":")" +
             ns + R"("},"spec":{"schedule":")" + schedule +
             R"(","policy":{"concurrency":"allow","deadline":"1m"},"jobTemplate":{"spec":)" + kPod + "}}}");
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
                         R"(","controller":true}]},"spec":)" + kPod + "}"));
      if (made.code != 201) give_up("the model takes no Job " + job);
      server.finish(kShop, job, i > 0);
    }
  });
}

double ModelCluster::start_operator(const std::vector<std::string>& flags) {
  std::vector<std::string> words{"kron-operator",     "--kubeconfig", directory_ + "/kubeconfig", "--leader-elect",
                                 "--lease-namespace", "kron",         "--metrics-listen",         "127.0.0.1:0"};
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
