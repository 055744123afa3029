#include "kron/json/alarm_json.h"

#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

std::string what_happened(const AlarmSign& sign) {
  switch (sign.kind) {
    case AlarmKind::failed:
      return sign.exit_code ? "failed with exit status " + std::to_string(*sign.exit_code)
                            : "ended, and nobody knows how";
    case AlarmKind::missed:
      return "was missed: its deadline passed before it could start";
    case AlarmKind::unschedulable:
      return "got no time: no draw met its constraints";
    case AlarmKind::late:
      return "is late: it " + sign.reason;
    case AlarmKind::recovered:
      break;
  }
  return "is well again";
}

}  // namespace

std::string message_text(std::string_view identity, const AlarmMessage& message) {
  std::string text = std::string(identity) + " " + what_happened(message.sign);
  const std::string count = std::to_string(message.count) + " bad in a row since " + rfc3339(message.first);
  if (message.sign.kind == AlarmKind::recovered) return text + " (after " + count + ")";
  if (message.count > 1) text += " (" + count + ")";
  return text;
}

std::string notify_payload(std::string_view identity, const AlarmMessage& message, std::string_view destination,
                           std::string_view host) {
  const AlarmSign& sign = message.sign;
  JsonWriter json;
  json.begin_map()
      .key("version")
      .integer(1)
      .member("destination", destination)
      .member("text", message_text(identity, message))
      .member("job", identity)
      .member("kind", name_of(sign.kind))
      .member("period", rfc3339(sign.period))
      .member("firstPeriod", rfc3339(message.first))
      .member("at", rfc3339(sign.at))
      .key("count")
      .integer(message.count)
      .key("number")
      .integer(message.number);
  json.key("exitCode");
  if (sign.exit_code) {
    json.integer(*sign.exit_code);
  } else {
    json.null();
  }
  json.member("runId", sign.run_id).member("reason", sign.reason).member("host", host);
  const std::string opening = opening_task_id(identity, message, destination);
  const bool opens = opening == notify_task_id(identity, message, destination);
  json.member("opening", opens ? std::string() : opening);
  return json.end_map().take();
}

}  // namespace kron
