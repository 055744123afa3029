#include "kron/operator/manifest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/jobs/yaml.h"
#include "kron/json/fields.h"
#include "kron/kube/object.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

using kube::node_at;
using kube::text_at;

// A shorter deadline does not outlive the take-over of a leader that died.
constexpr Seconds kTakeOver{30};

// Of the key at the end of the path; of the last one on the way that is there.
Position place_of_key(const Node& document, kube::Path path) {
  Position at = document.position();
  const Node* node = &document;
  for (const std::string_view key : path) {
    const auto* map = node->as<Node::Map>();
    if (map == nullptr) return at;
    const auto found = std::ranges::find(*map, key, &Node::Member::key);
    if (found == map->end()) return at;
    at = found->position;
    node = &found->value;
  }
  return at;
}

bool is_dns_name(std::string_view name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && is_plain(name.front()) && is_plain(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '.'; });
}

class ManifestReader {
 public:
  ManifestReader(std::string_view ns, ZoneDatabase& zones, jobs::Report& report)
      : ns_(ns), zones_(zones), report_(report) {}

  void take(const Node& document) {
    if (document.is_null()) return;
    if (document.as<Node::Map>() == nullptr) {
      return report_.error(document.position(), "",
                           "expected a Kubernetes object, found " + std::string(kind_of(document)));
    }
    const std::string kind = text_at(document, {"kind"});
    const Node* items = node_at(document, {"items"});
    if (kind.ends_with("List") && items != nullptr && items->as<Node::List>() != nullptr) {
      for (const Node& item : *items->as<Node::List>()) take(item);
    } else if (kind == kKind) {
      take_kron_job(document);
    }
  }

  std::vector<Manifest> manifests;

 private:
  void take_kron_job(const Node& document) {
    Manifest manifest{report_.file(),
                      document,
                      text_at(document, {"metadata", "namespace"}),
                      text_at(document, {"metadata", "name"}),
                      {}};
    if (manifest.ns.empty()) manifest.ns = ns_;
    const Node* spec = node_at(document, {"spec"});
    manifest.spec = read_spec(spec, manifest.ns, manifest.name, zones_);
    std::vector<Error> errors = object_errors(manifest);
    if (spec != nullptr && spec->as<Node::Map>() != nullptr)
      std::ranges::move(schema_errors(*spec), std::back_inserter(errors));
    // A field that the schema refuses is not explained twice.
    const std::size_t known = errors.size();
    for (const Error& error : manifest.spec.errors) {
      const auto end = errors.begin() + static_cast<std::ptrdiff_t>(known);
      if (std::find_if(errors.begin(), end, [&](const Error& e) { return e.field == error.field; }) == end) {
        errors.push_back(error);
      }
    }
    report_.errors(errors, document);
    manifest.is_good = errors.empty();
    warn_of(manifest);
    manifests.push_back(std::move(manifest));
  }

  static std::vector<Error> object_errors(const Manifest& manifest) {
    constexpr std::array<std::string_view, 5> kKeys{"apiVersion", "kind", "metadata", "spec", "status"};
    std::vector<Error> errors;
    Fields(manifest.document, "", errors).reject_unknown(kKeys);
    const std::string version = text_at(manifest.document, {"apiVersion"});
    if (version != kApiVersion) {
      errors.push_back({Code::invalid,
                        quoted(version) + " is not served for KronJobs; write " + std::string(kApiVersion),
                        "apiVersion"});
    }
    if (manifest.name.empty()) {
      errors.push_back(
          {Code::invalid, "a KronJob needs a name; with its namespace it is the identity of the job", "metadata.name"});
    } else if (!is_dns_name(manifest.name)) {
      errors.push_back({Code::invalid, quoted(manifest.name) + " cannot be a name; use small letters, digits, - and .",
                        "metadata.name"});
    }
    return errors;
  }

  void warn_of(const Manifest& manifest) {
    const Node& document = manifest.document;
    const auto warn = [&](kube::Path path, std::string_view field, std::string message, std::string cure) {
      report_.warn(place_of_key(document, path), std::string(field), std::move(message), std::move(cure));
    };
    if (manifest.spec.job && manifest.spec.job->policy.deadline < kTakeOver) {
      warn({"spec", "policy", "deadline"}, "spec.policy.deadline",
           "a deadline under 30s can miss a period when the leader dies; this one is " +
               duration_text(manifest.spec.job->policy.deadline),
           "allow for a take-over: deadline: 1m");
    }
    if (manifest.spec.foreign_gate) {
      warn({"spec", "jobTemplate"}, "spec.jobTemplate",
           "its Jobs are suspended and started by another (suspend, managedBy or a queue): a period runs at most once "
           "only while nobody deletes a Job before it is recorded",
           "");
    }
    if (node_at(document, {"metadata", "annotations", kRunNow}) != nullptr) {
      warn({"metadata", "annotations", kRunNow}, "metadata.annotations",
           "kron.io/run-now in a manifest runs nothing when the KronJob is created, and again whenever it changes",
           "leave it out, and use kron kube trigger");
    }
    for (const std::string_view part : {"labels", "annotations"}) {
      const Node* pairs = node_at(document, {"spec", "jobTemplate", "metadata", part});
      const auto* map = pairs != nullptr ? pairs->as<Node::Map>() : nullptr;
      if (map == nullptr) continue;
      for (const Node::Member& member : *map) {
        if (!member.key.starts_with("kron.io/")) continue;
        report_.warn(member.position, "spec.jobTemplate.metadata",
                     member.key + " is the operator's: what the template says is overruled", "leave it out");
      }
    }
    if (node_at(document, {"spec", "jobTemplate", "metadata", "name"}) != nullptr) {
      warn({"spec", "jobTemplate", "metadata", "name"}, "spec.jobTemplate.metadata.name",
           "the name of the template is not used: each Job is named after its period", "leave it out");
    }
  }

  std::string ns_;
  ZoneDatabase& zones_;
  jobs::Report& report_;
};

}  // namespace

std::vector<Manifest> read_manifests(std::string_view yaml, std::string_view ns, ZoneDatabase& zones,
                                     jobs::Report& report) {
  ManifestReader reader(ns, zones, report);
  for (const Node& document : jobs::parse_yaml(yaml, report)) reader.take(document);
  return std::move(reader.manifests);
}

}  // namespace kron::kronjobs
