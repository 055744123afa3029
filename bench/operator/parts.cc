#include "parts.h"

#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <unistd.h>

#include "../krond/host.h"

namespace kron::bench {

Node parsed(const std::string& text) {
  Result<Node> node = parse_json(text);
  if (!node) give_up(node.error().message);
  return *std::move(node);
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

kube::Connection connection_of(const std::string& kubeconfig) {
  const kube::ConfigFile file{kubeconfig, contents_of(kubeconfig)};
  Result<kube::Connection> connection = kube::read_kubeconfig(std::span(&file, 1));
  if (!connection) give_up(connection.error().message);
  return *std::move(connection);
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

const char kJobSpec[] =
    R"({"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":)"
    R"("registry.example.com/shop/report:1.2.3","command":["/usr/local/bin/report","--customer","4711","--format",)"
    R"("pdf"],"env":[{"name":"LEVEL","value":"info"}],"resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}}})";

std::string kron_job_text(const std::string& ns, const std::string& name, const std::string& schedule) {
  return R"({"apiVersion":"kron.io/v1alpha1","kind":"KronJob","metadata":{"name":")" + name + R"(","namespace":")" +
         ns + R"("},"spec":{"schedule":")" + schedule +
         R"(","policy":{"concurrency":"allow","deadline":"1m"},"jobTemplate":{"spec":)" + kJobSpec + "}}}";
}

}  // namespace kron::bench
