#include "notify_verbs.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <unistd.h>

#include "daemon_client.h"
#include "flag_values.h"
#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/alarm.h"
#include "kron/env/places.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

constexpr std::string_view kNotifyVerb = "notify";
constexpr int kSendLater = 75;  // EX_TEMPFAIL: the worker does not count it as an attempt

Result<jobs::Destinations> destinations(const NotifyOptions& options) {
  std::string file = options.file;
  if (file.empty()) {
    Result<std::string> usual = default_notify_file();
    if (!usual) return fail(usual.error());
    file = *std::move(usual);
  }
  return jobs::load_destinations(file);
}

Result<jobs::Destination> destination(const NotifyOptions& options, const std::string& name) {
  Result<jobs::Destinations> all = destinations(options);
  if (!all) return fail(all.error());
  const auto found = all->find(name);
  if (found != all->end()) return std::move(found->second);
  return fail(Code::not_found,
              "there is no destination " + kron::quoted(name) + "; `kron notify list` shows those there are");
}

std::string test_body(const std::string& name) {
  char host[256] = "";
  (void)::gethostname(host, sizeof host - 1);
  JsonWriter json;
  json.begin_map().key("version").integer(1).member("destination", name);
  json.member("text", "This is a test of " + name + ", sent by kron notify test on " + host);
  json.member("kind", "test").member("at", rfc3339(present())).member("host", host);
  return json.end_map().take();
}

std::string text_in_map(const Node& map, std::string_view key) {
  const Node* value = map.find(key);
  const auto* text = value != nullptr ? value->as<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

enum class Opening : std::uint8_t { delivered, under_way, never_delivered };

// What became of the message that opened the alarm. Where nobody knows it any more, it was delivered long ago.
Opening opening_of(const NotifyOptions& options, const std::string& task) {
  DaemonOptions place;
  static_cast<KrondOptions&>(place) = options.krond;
  Result<DaemonClient> client = DaemonClient::open(place);
  if (!client) return Opening::under_way;
  const Result<std::string> answer = client->get(Target("tasks").segment(task));
  if (!answer) return answer.error().code == Code::not_found ? Opening::delivered : Opening::under_way;
  const Result<Node> found = parsed_answer(*answer);
  const std::string outcome = found ? text_in_map(*found, "outcome") : std::string();
  if (outcome == "SUCCEEDED") return Opening::delivered;
  return outcome == "FAILED" ? Opening::never_delivered : Opening::under_way;
}

}  // namespace

int list_destinations(const NotifyOptions& options) {
  const Result<jobs::Destinations> all = destinations(options);
  if (!all) return refuse(kNotifyVerb, all.error(), options.json);
  if (options.json) {
    JsonWriter json;
    json.begin_map().key("destinations").begin_list();
    for (const auto& [name, one] : *all) {
      json.begin_map().member("name", name).member("summary", jobs::summary_of(one)).end_map();
    }
    std::printf("%s\n", json.end_list().end_map().take().c_str());
    return 0;
  }
  for (const auto& [name, one] : *all) std::printf("%-20s %s\n", name.c_str(), jobs::summary_of(one).c_str());
  if (all->empty()) std::printf("There are no destinations.\n");
  return 0;
}

int test_destination(const NotifyOptions& options) {
  const Result<jobs::Destination> to = destination(options, options.name);
  if (!to) return refuse(kNotifyVerb, to.error(), options.json);
  const Status sent =
      send_message(*to, test_body(options.name), "test-" + std::to_string(::getpid()), kLongestDelivery);
  if (!sent) return refuse(kNotifyVerb, sent.error(), options.json);
  if (options.json) {
    std::printf("{\"destination\":\"%s\",\"delivered\":true}\n", options.name.c_str());
  } else {
    std::printf("A test message was delivered to %s: %s.\n", options.name.c_str(), jobs::summary_of(*to).c_str());
  }
  return 0;
}

int deliver_notification(const NotifyOptions& options) {
  const std::string body{std::istreambuf_iterator<char>(std::cin), {}};
  const Result<Node> message = parse_json(body);
  if (!message) return complain(kNotifyVerb, message.error());
  const char* id = std::getenv("KRON_TASK_ID");
  const std::string opening = text_in_map(*message, "opening");
  if (!opening.empty()) {
    switch (opening_of(options, opening)) {
      case Opening::delivered:
        break;
      case Opening::under_way:
        std::fprintf(stderr, "kron notify: %s waits for the message that opened the alarm, %s\n", id, opening.c_str());
        return kSendLater;
      case Opening::never_delivered:
        // Who was not told that it is bad need not hear that it is well.
        std::printf("not sent: the message that opened the alarm was never delivered\n");
        return 0;
    }
  }
  const Result<jobs::Destination> to = destination(options, text_in_map(*message, "destination"));
  if (!to) return complain(kNotifyVerb, to.error());
  if (const Status sent = send_message(*to, body, id != nullptr ? id : ""); !sent)
    return complain(kNotifyVerb, sent.error());
  std::printf("delivered: %s\n", jobs::summary_of(*to).c_str());
  return 0;
}

}  // namespace kron::cli
