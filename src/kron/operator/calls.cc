#include "kron/operator/calls.h"

#include <utility>

#include "kron/json/writer.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using kube::Request;
using kube::Verb;

class Caller {
 public:
  Caller(const kube::ObjectMeta& kron_job, const JobApi& api) : kron_job_(kron_job), api_(api) {}

  Request operator()(const Create& step) const {
    return {Verb::create, jobs_path(kron_job_.ns, api_), {}, job_text(step.body)};
  }
  Request operator()(const TryTemplate& step) const {
    return {Verb::create, jobs_path(kron_job_.ns, api_), "dryRun=All&fieldValidation=Strict", job_text(step.body)};
  }
  // With the version and nothing else of the metadata: a compare-and-set.
  Request operator()(const WriteStatus& step) const {
    JsonWriter out;
    out.begin_map().member("apiVersion", kApiVersion).member("kind", kKind).key("metadata").begin_map();
    out.member("name", kron_job_.name).member("namespace", kron_job_.ns);
    out.member("resourceVersion", kron_job_.resource_version).end_map();
    out.key("status").document(status_json(step.status)).end_map();
    return {Verb::update, kron_job_path(kron_job_.ns, kron_job_.name) + "/status", {}, out.take()};
  }
  // All or nothing. Removing what is not there fails: the Job has been opened before, and whoever has suspended it
  // since means it.
  Request operator()(const Open& step) const {
    JsonWriter out;
    out.begin_list();
    out.begin_map().member("op", "test").member("path", "/metadata/uid").member("value", step.uid).end_map();
    out.begin_map().member("op", "remove").member("path", "/metadata/annotations/kron.io~1gate").end_map();
    out.begin_map().member("op", "add").member("path", "/spec/suspend").key("value").boolean(false).end_map();
    return {Verb::patch, job_path(step.name), {}, out.end_list().take()};
  }
  Request operator()(const Remove& step) const {
    JsonWriter out;
    out.begin_map().member("apiVersion", "v1").member("kind", "DeleteOptions");
    out.member("propagationPolicy", step.how == Propagation::foreground ? "Foreground" : "Background");
    out.key("preconditions").begin_map().member("uid", step.uid);
    if (!step.resource_version.empty()) out.member("resourceVersion", step.resource_version);
    return {Verb::remove, job_path(step.name), {}, out.end_map().end_map().take()};
  }
  Request operator()(const ReadJob& step) const { return {Verb::get, job_path(step.name)}; }
  Request operator()(const ReadKronJob&) const { return {Verb::get, kron_job_path(kron_job_.ns, kron_job_.name)}; }
  Request operator()(const Rest&) const { return {}; }

 private:
  [[nodiscard]] std::string job_path(const std::string& name) const {
    return jobs_path(kron_job_.ns, api_) + "/" + name;
  }

  // `body` is a map with members.
  [[nodiscard]] std::string job_text(const std::string& body) const {
    std::string text =
        JsonWriter().begin_map().member("apiVersion", api_.group_version).member("kind", api_.kind).take();
    if (body.size() > 2) text += "," + body.substr(1);
    return body.size() > 2 ? text : text + "}";
  }

  const kube::ObjectMeta& kron_job_;
  const JobApi& api_;
};

}  // namespace

std::string kron_job_path(std::string_view ns, std::string_view name) {
  return "/apis/" + std::string(kApiVersion) + "/namespaces/" + std::string(ns) + "/kronjobs/" + std::string(name);
}

std::string jobs_path(std::string_view ns, const JobApi& api) {
  return "/apis/" + api.group_version + "/namespaces/" + std::string(ns) + "/" + api.plural;
}

kube::Request request_of(const Step& step, const kube::ObjectMeta& kron_job, const JobApi& api) {
  return std::visit(Caller(kron_job, api), step);
}

}  // namespace kron::kronjobs
