#include <algorithm>
#include <cstdio>

#include "answer_text.h"
#include "kron/json/writer.h"
#include "kron/kube/object.h"
#include "kube_objects.h"
#include "kube_verbs.h"
#include "lines.h"

namespace kron::cli {
namespace {

struct KubeSwitch {
  std::string_view verb;
  bool suspend;
  std::string_view done;
};

std::vector<std::string> suspension(const Node& object, bool suspend) {
  if (kube::is_true_at(object, {"spec", "policy", "suspend"}) == suspend) return {};
  JsonWriter out;
  out.begin_map().member("op", "add");
  if (kube::node_at(object, {"spec", "policy"}) == nullptr) {
    out.member("path", "/spec/policy").key("value").begin_map().key("suspend").boolean(suspend).end_map();
  } else {
    out.member("path", "/spec/policy/suspend").key("value").boolean(suspend);
  }
  return {out.end_map().take()};
}

Result<std::vector<KubeName>> names_asked_for(KubeSession& session, const KubeNamesOptions& options) {
  std::vector<KubeName> names;
  for (const std::string& word : options.names) {
    const auto name = kube_name(word, session.ns());
    if (!name) return fail(name.error());
    names.push_back(*name);
  }
  if (!options.all) return names;
  const auto objects = list_kron_jobs(session, session.ns());
  if (!objects) return fail(objects.error());
  for (const Node& object : *objects) {
    names.push_back({kube::text_at(object, {"metadata", "namespace"}), kube::text_at(object, {"metadata", "name"})});
  }
  return names;
}

void print_switch(const KubeName& name, const KubeEdit& edit, const KubeSwitch& what, bool is_json) {
  if (is_json) {
    JsonWriter line;
    line.begin_map().member("namespace", name.ns).member("name", name.name);
    line.key("suspended").boolean(what.suspend).key("changed").boolean(edit.changed);
    std::printf("%s\n", line.end_map().take().c_str());
    return;
  }
  std::printf("%s %s%s\n", std::string(what.done).c_str(), harmless(name.ns + "/" + name.name).c_str(),
              edit.changed ? "" : " (it was already)");
}

int switch_kron_jobs(const KubeNamesOptions& options, const KubeSwitch& what) {
  const std::string verb = "kube " + std::string(what.verb);
  if (const Status good = check_namespace_flag(options.ns); !good) return refuse(verb, good.error(), options.json);
  auto session = KubeSession::open(options);
  if (!session) return refuse(verb, session.error(), options.json);
  const auto names = names_asked_for(*session, options);
  if (!names) return refuse(verb, names.error(), options.json);
  int worst = 0;
  for (const KubeName& name : *names) {
    const auto edit = edit_kron_job(*session, name, [&what](const Node& object) {
      return Result<std::vector<std::string>>(suspension(object, what.suspend));
    });
    if (edit) {
      print_switch(name, *edit, what, options.json);
    } else {
      worst = std::max(worst, refuse(verb, edit.error(), options.json));
    }
  }
  if (names->empty() && !options.json) std::printf("no KronJobs\n");
  return worst;
}

}  // namespace

int kube_suspend(const KubeNamesOptions& options) { return switch_kron_jobs(options, {"suspend", true, "suspended"}); }
int kube_resume(const KubeNamesOptions& options) { return switch_kron_jobs(options, {"resume", false, "resumed"}); }

}  // namespace kron::cli
