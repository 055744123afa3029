#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/kube/exec_plugin.h"

// Where the API server is and how we show who we are: out of kubeconfig files, or out of what a pod has.
namespace kron::kube {

// A text that is given, or stands in a file that may change while we run.
struct TextOrFile {
  std::string text = {};
  std::string file = {};  // read again and again; empty: `text` counts

  [[nodiscard]] bool is_given() const { return !text.empty() || !file.empty(); }
  bool operator==(const TextOrFile&) const = default;
};

struct Connection {
  std::string server;                // "https://10.0.0.1:6443", without a slash at its end
  TextOrFile authority = {};         // PEM; not given: those that the machine trusts
  bool is_unverified = false;        // insecure-skip-tls-verify: to be warned of at every start
  std::string tls_server_name = {};  // empty: the host of `server`
  std::string proxy = {};            // empty: what HTTPS_PROXY and NO_PROXY say
  std::string ns = "default";
  TextOrFile token = {};
  TextOrFile certificate = {};  // of the client, PEM
  TextOrFile key = {};
  std::optional<ExecPlugin> exec = {};  // gives what is shown, when neither a token nor a certificate is named

  bool operator==(const Connection&) const = default;
};

struct ConfigFile {
  std::string path;  // absolute: what it names is relative to its directory
  std::string text;
};

// Of several files, the first that has a name, or the current context, counts. `context`: instead of the current one.
// Code invalid: the text is no kubeconfig, or asks for something that is not supported (an auth provider, a user name
// with a password, an exec plug-in that must talk to somebody); not_found: it lacks a context, cluster or user that it
// names. No message shows a token, a password or a key.
Result<Connection> read_kubeconfig(std::span<const ConfigFile> files, std::string_view context = {});

// The files that $KUBECONFIG names, separated by colons; else ~/.kube/config.
std::vector<std::string> kubeconfig_paths(std::string_view kubeconfig, std::string_view home);

using GetVariable = std::function<std::optional<std::string>(const char* name)>;

// From within a pod: KUBERNETES_SERVICE_HOST and _PORT, and the files of its service account. not_found: this is no
// pod.
Result<Connection> in_cluster(const GetVariable& variable, std::string_view ns);

inline constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

}  // namespace kron::kube
