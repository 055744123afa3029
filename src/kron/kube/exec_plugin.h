#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"

// Programs that give credentials, as `exec` of a kubeconfig's user names them.
namespace kron::kube {

struct ExecPlugin {
  std::string api_version = {};  // "client.authentication.k8s.io/v1", or /v1beta1
  std::string command = {};      // looked for in PATH when there is no slash in it
  std::vector<std::string> arguments = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  // added to ours
  std::string install_hint = {};                                      // for people who do not have it
  bool wants_cluster = false;                                         // to know for which server it is asked

  bool operator==(const ExecPlugin&) const = default;
};

// What it has given. A token, or a certificate with its key, or all.
struct ExecCredential {
  std::string token = {};
  std::string certificate = {};  // PEM
  std::string key = {};
  std::optional<Instant> expires = {};

  bool operator==(const ExecCredential&) const = default;
};

// What it has printed. Refused with code invalid: no ExecCredential of that version, or one that holds nothing. No
// message shows anything of the text.
Result<ExecCredential> read_exec_credential(std::string_view text, const ExecPlugin& plugin);

// The server that credentials are for, as a plug-in is told of it.
struct ExecCluster {
  std::string server;
  std::string tls_server_name = {};
  std::string authority = {};  // PEM
  std::string proxy = {};
  bool is_unverified = false;
};

// The value of KUBERNETES_EXEC_INFO, by which it knows what is wanted.
std::string exec_info(const ExecPlugin& plugin, const ExecCluster& cluster = {});

// Runs it, with nothing to read and our standard error, and gives what it printed. It has so long; then it is killed,
// with all that it has started and that has not left its process group. Blocks: for a thread of its own. not_found:
// there is no such program; unreachable: it took too long or ended with a failure; invalid: it printed more than 1 MiB.
// `stop`, a descriptor: when it is readable, that is as if its time were over; -1: none.
Result<std::string> run_exec_plugin(const ExecPlugin& plugin, const std::string& info, Nanoseconds limit,
                                    int stop = -1);

}  // namespace kron::kube
