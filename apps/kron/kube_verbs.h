#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube_session.h"

namespace CLI {
class App;
}

namespace kron::cli {

// The verbs of `kron kube`, free of the parsing of flags (kube_flags.cc). They talk to an API server, and those that
// are given manifests to nobody. All return the exit status.
std::function<int()> set_up_kube(CLI::App& verb);

struct KubeNextOptions : KubeOptions {
  std::vector<std::string> names;  // none: all of the namespace, or of the files
  std::vector<std::string> files;  // manifests, instead of a server
  bool all_namespaces = false;
  std::string from;  // empty: the present time
  int count = 5;
  std::string duration;  // empty: `count` decides
};
int kube_next(const KubeNextOptions& options);

struct KubeExplainOptions : KubeOptions {
  std::string name;
  std::vector<std::string> files;
  std::string at, period;  // at most one
  std::string now;         // empty: the present time
};
int kube_explain(const KubeExplainOptions& options);
int kube_why(const KubeExplainOptions& options);  // without files

struct KubeTriggerOptions : KubeOptions {
  std::string name;
  std::string id;  // empty: a new one
  bool wait = false;
  std::string timeout;
};
int kube_trigger(const KubeTriggerOptions& options);

struct KubeNamesOptions : KubeOptions {
  std::vector<std::string> names;
  bool all = false;  // of the namespace
};
int kube_suspend(const KubeNamesOptions& options);
int kube_resume(const KubeNamesOptions& options);

struct KubeLintOptions {
  std::vector<std::string> paths;
  std::string ns = "default";  // of manifests that name none
  std::string now;
  bool quiet = false;
  bool json = false;
};
int kube_lint(const KubeLintOptions& options);

}  // namespace kron::cli
