#include "kron/api/cluster_status.h"

#include "kron/api/json_values.h"

namespace kron::api {

void write(JsonWriter& json, const ClusterStatus& status) {
  json.begin_map().member("redis", status.redis).member("namespace", status.name_space);
  json.member("host", status.host).member("instance", status.instance).member("compat", status.compat);
  json.member("timezone", status.timezone)
      .member("tasks", status.tasks_in_files ? "file" : "redis")
      .key("linkUp")
      .boolean(status.link_up);
  json.key("draining").boolean(status.is_draining).key("clockOffsetSeconds").real(status.clock_offset);
  if (!status.why_not_ready.empty()) json.member("notReady", status.why_not_ready);
  json.key("reconnects").integer(number(status.reconnects)).key("lostWrites").integer(number(status.lost_writes));
  json.key("warnings").begin_list();
  for (const ClusterStatus::Warning& warning : status.warnings) {
    json.begin_map().member("severity", warning.is_error ? "error" : "warning");
    json.member("message", warning.message).end_map();
  }
  json.end_list().key("hosts").begin_list();
  for (const ClusterStatus::Host& host : status.hosts) {
    json.begin_map().member("instance", host.instance).member("host", host.host).member("ip", host.ip);
    json.member("version", host.version).member("compat", host.compat);
    json.key("clockOffsetSeconds").real(host.clock_offset).key("draining").boolean(host.is_draining);
    json.key("running").integer(number(host.runs)).key("beatSecondsAgo").real(host.beat_seconds_ago).end_map();
  }
  json.end_list().end_map();
}

}  // namespace kron::api
