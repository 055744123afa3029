#include "kube_objects.h"

#include <algorithm>
#include <utility>

#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "kron/kube/wire.h"
#include "kron/operator/calls.h"
#include "kron/operator/names.h"

namespace kron::cli {
namespace {

constexpr int kMostTries = 5;
constexpr std::size_t kLongestObjectName = 253;
constexpr std::string_view kPage = "limit=500";

// What becomes a part of a path.
bool is_object_name(std::string_view name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongestObjectName && is_plain(name.front()) && is_plain(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '.'; });
}

std::string kron_jobs_path(const std::string& ns) {
  const std::string group = "/apis/" + std::string(kronjobs::kApiVersion);
  return ns.empty() ? group + "/kronjobs" : group + "/namespaces/" + ns + "/kronjobs";
}

struct Pages {
  std::vector<Node> items;
  std::string next;
  bool is_stale = false;  // the server has forgotten where the next page begins
};

Status take_page(KubeSession& session, const std::string& path, const std::string& selector, const std::string& what,
                 Pages& pages) {
  std::string query(kPage);
  if (!selector.empty()) query += "&labelSelector=" + kube::percent_encoded(selector);
  if (!pages.next.empty()) query += "&continue=" + kube::percent_encoded(pages.next);
  const auto answer = session.ask({kube::Verb::get, path, query}, kube::Lane::list);
  if (!answer) return fail(answer.error());
  if (answer->code == 410 && !pages.next.empty()) {
    pages = {.items = {}, .next = {}, .is_stale = true};
    return {};
  }
  if (answer->code != 200) return fail(error_of_api(*answer, what));
  pages.next = kube::text_at(answer->body, {"metadata", "continue"});
  const Node* items = kube::node_at(answer->body, {"items"});
  if (const auto* list = items != nullptr ? items->as<Node::List>() : nullptr) {
    pages.items.insert(pages.items.end(), list->begin(), list->end());
  }
  return {};
}

Result<std::vector<Node>> list_all(KubeSession& session, const std::string& path, const std::string& selector,
                                   const std::string& what) {
  for (int i = 0; i < kMostTries; ++i) {
    Pages pages;
    do {
      if (const Status taken = take_page(session, path, selector, what, pages); !taken) return fail(taken.error());
    } while (!pages.next.empty());
    if (!pages.is_stale) return std::move(pages.items);
  }
  return fail(Code::unreachable, "the list changes faster than it can be read; try again");
}

std::string test_of_version(const Node& object) {
  JsonWriter out;
  out.begin_map().member("op", "test").member("path", "/metadata/resourceVersion");
  return out.member("value", kube::text_at(object, {"metadata", "resourceVersion"})).end_map().take();
}

std::string patch_of(const Node& object, const std::vector<std::string>& operations) {
  JsonWriter out;
  out.begin_list().document(test_of_version(object));
  for (const std::string& operation : operations) out.document(operation);
  return out.end_list().take();
}

}  // namespace

std::string KubeName::text() const { return "KronJob " + quoted(name, 200) + " in namespace " + quoted(ns, 200); }

Result<KubeName> kube_name(std::string_view word, std::string_view ns) {
  const std::size_t slash = word.find('/');
  const KubeName name = slash == std::string_view::npos
                            ? KubeName{std::string(ns), std::string(word)}
                            : KubeName{std::string(word.substr(0, slash)), std::string(word.substr(slash + 1))};
  if (is_object_name(name.name) && is_object_name(name.ns)) return name;
  return fail(Code::unreadable, quoted(word, 200) + " cannot be a KronJob; expected NAME or NAMESPACE/NAME");
}

Status check_namespace_flag(std::string_view ns) {
  if (ns.empty() || is_object_name(ns)) return {};
  return fail(Code::unreadable, "--namespace: " + quoted(ns, 200) + " cannot be a namespace");
}

Result<Node> read_kron_job(KubeSession& session, const KubeName& name) {
  auto answer = session.ask({kube::Verb::get, kronjobs::kron_job_path(name.ns, name.name)});
  if (!answer) return fail(answer.error());
  if (answer->code != 200) return fail(error_of_api(*answer, name.text()));
  return std::move(answer->body);
}

Result<std::vector<Node>> list_kron_jobs(KubeSession& session, const std::string& ns) {
  return list_all(session, kron_jobs_path(ns), "", "list of KronJobs");
}

Result<std::vector<kronjobs::JobView>> list_jobs_of(KubeSession& session, const KubeName& name) {
  const auto objects = list_all(session, kronjobs::jobs_path(name.ns),
                                std::string(kronjobs::kNameLabel) + "=" + name.name, "list of Jobs");
  if (!objects) return fail(objects.error());
  std::vector<kronjobs::JobView> jobs;
  for (const Node& object : *objects) {
    if (Result<kronjobs::JobView> job = kronjobs::view_job(object)) jobs.push_back(*std::move(job));
  }
  return jobs;
}

Result<std::optional<kronjobs::JobView>> find_job(KubeSession& session, const std::string& ns,
                                                  const std::string& name) {
  const auto answer = session.ask({kube::Verb::get, kronjobs::jobs_path(ns) + "/" + name});
  if (!answer) return fail(answer.error());
  if (answer->code == 404) return std::optional<kronjobs::JobView>();
  if (answer->code != 200) return fail(error_of_api(*answer, "Job " + quoted(name, 200)));
  Result<kronjobs::JobView> job = kronjobs::view_job(answer->body);
  if (!job) return fail(job.error());
  return std::optional(*std::move(job));
}

Result<KubeEdit> edit_kron_job(KubeSession& session, const KubeName& name, const KubeChange& change) {
  for (int i = 0; i < kMostTries; ++i) {
    Result<Node> object = read_kron_job(session, name);
    if (!object) return fail(object.error());
    const auto operations = change(*object);
    if (!operations) return fail(operations.error());
    if (operations->empty()) return KubeEdit{*std::move(object), false};
    auto answer = session.ask(
        {kube::Verb::patch, kronjobs::kron_job_path(name.ns, name.name), {}, patch_of(*object, *operations)});
    if (!answer) return fail(answer.error());
    if (answer->code == 200) return KubeEdit{std::move(answer->body), true};
    // A test that fails is 422, and so is what a policy of the cluster refuses: only the first has another version.
    if (answer->code != 409 && answer->code != 422) return fail(error_of_api(*answer, name.text()));
    const Result<Node> now = read_kron_job(session, name);
    if (!now) return fail(now.error());
    const auto version = [](const Node& node) { return kube::text_at(node, {"metadata", "resourceVersion"}); };
    if (version(*now) == version(*object)) return fail(error_of_api(*answer, name.text()));
  }
  return fail(Code::conflict, name.text() + " changes all the time; try again");
}

}  // namespace kron::cli
