#include "kron/kube/lease.h"

#include <algorithm>
#include <chrono>

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"
#include "kron/kube/object.h"

namespace kron::kube {
namespace {

// The fraction counts: two renewals within a second are two.
std::optional<WallTime> micro_time_of(std::string_view text) {
  const Result<Instant> seconds = parse_rfc3339(text);
  if (!seconds || *seconds < kFirstInstant || *seconds > kLastInstant) return std::nullopt;  // nanoseconds end in 2262
  WallTime time = *seconds;
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return time;
  Nanoseconds digit = std::chrono::milliseconds(100);
  for (const char c : text.substr(point + 1)) {
    if (c < '0' || c > '9') break;
    time += (c - '0') * digit;
    digit /= 10;
  }
  return time;
}

}  // namespace

Result<Lease> read_lease(const Node& object) {
  const Result<ObjectMeta> meta = metadata_of(object);
  if (!meta) return fail(meta.error());
  Lease lease{.ns = meta->ns, .name = meta->name};
  lease.resource_version = meta->resource_version;
  lease.holder = text_at(object, {"spec", "holderIdentity"});
  // A day at most: nobody shall be kept out for ever by a slip of the pen.
  lease.duration = Seconds(
      std::clamp<std::int64_t>(integer_at(object, {"spec", "leaseDurationSeconds"}).value_or(15), 1, 24 * 60 * 60));
  lease.acquired = micro_time_of(text_at(object, {"spec", "acquireTime"}));
  lease.renewed = micro_time_of(text_at(object, {"spec", "renewTime"}));
  lease.transitions =
      std::clamp<std::int64_t>(integer_at(object, {"spec", "leaseTransitions"}).value_or(0), 0, 1 << 30);
  return lease;
}

std::string lease_body(const Lease& lease) {
  JsonWriter json;
  json.begin_map().member("apiVersion", "coordination.k8s.io/v1").member("kind", "Lease");
  json.key("metadata").begin_map().member("name", lease.name).member("namespace", lease.ns);
  if (!lease.resource_version.empty()) json.member("resourceVersion", lease.resource_version);
  json.end_map();
  json.key("spec").begin_map().member("holderIdentity", lease.holder);
  json.key("leaseDurationSeconds").integer(lease.duration.count());
  if (lease.acquired) json.member("acquireTime", micro_time(*lease.acquired));
  if (lease.renewed) json.member("renewTime", micro_time(*lease.renewed));
  json.key("leaseTransitions").integer(lease.transitions);
  json.end_map().end_map();
  return json.take();
}

std::string micro_time(WallTime time) {
  const auto seconds = std::chrono::floor<Seconds>(time);
  std::string digits = std::to_string(std::chrono::floor<std::chrono::microseconds>(time - seconds).count());
  digits.insert(0, 6 - digits.size(), '0');
  std::string text = rfc3339(seconds);
  text.insert(text.size() - 1, "." + digits);
  return text;
}

std::string leases_path(std::string_view ns) {
  return "/apis/coordination.k8s.io/v1/namespaces/" + std::string(ns) + "/leases";
}

std::string lease_path(std::string_view ns, std::string_view name) { return leases_path(ns) + "/" + std::string(name); }

}  // namespace kron::kube
