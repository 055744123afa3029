#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/core/time_zone.h"
#include "kron/operator/job_view.h"
#include "kron/operator/kron_job.h"
#include "kube_session.h"

// What the verbs of `kron kube` read and change on the server.
namespace kron::cli {

struct KubeName {
  std::string ns;
  std::string name;

  // "KronJob 'report' in namespace 'shop'".
  [[nodiscard]] std::string text() const;
  bool operator==(const KubeName&) const = default;
};

// `name`, or `namespace/name`. Unreadable: no object can be called so.
Result<KubeName> kube_name(std::string_view word, std::string_view ns);
// Of a namespace that a flag gives; empty is good.
Status check_namespace_flag(std::string_view ns);

// As the server has it. not_found: there is none.
Result<Node> read_kron_job(KubeSession& session, const KubeName& name);

// All of a namespace, or (empty) of all of them, page by page.
Result<std::vector<Node>> list_kron_jobs(KubeSession& session, const std::string& ns);

// The Jobs that carry the KronJob's label.
Result<std::vector<kronjobs::JobView>> list_jobs_of(KubeSession& session, const KubeName& name);

// None: there is no Job of this name.
Result<std::optional<kronjobs::JobView>> find_job(KubeSession& session, const std::string& ns, const std::string& name);

// The operations of a JSON patch, each a JSON object, that make of a KronJob what is wanted; none: it is so already.
using KubeChange = std::function<Result<std::vector<std::string>>(const Node& object)>;

struct KubeEdit {
  Node object;  // as it is now
  bool changed = false;
};

// A patch that counts only for the version that was looked at; when another was faster, it is looked at again.
// Conflict: others were faster each time. Safe to repeat.
Result<KubeEdit> edit_kron_job(KubeSession& session, const KubeName& name, const KubeChange& change);

}  // namespace kron::cli
