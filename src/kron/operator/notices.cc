#include "kron/operator/notices.h"

#include <algorithm>
#include <functional>

#include "kron/base/sha256.h"
#include "kron/base/text.h"
#include "kron/json/writer.h"
#include "kron/kube/lease.h"
#include "kron/operator/names.h"

namespace kron::kronjobs {
namespace {

constexpr std::size_t kLongestNote = 1000;        // the server takes less than 1 kB
constexpr std::size_t kLongestInstance = 128;     // of reportingInstance
constexpr std::size_t kLongestNameOfEvent = 230;  // of 253, with a dot and 16 digits behind it
constexpr std::string_view kReporter = "kron.io/kron-operator";

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(most);
  while (!is_valid_utf8(text)) text.pop_back();
  return text;
}

// A DNS subdomain; unlike that of any other event.
std::string event_name(const kube::ObjectMeta& kron_job, WallTime at, Reporter& reporter) {
  std::string name = kron_job.name.substr(0, kLongestNameOfEvent);
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  const std::string count = std::to_string(++reporter.events);
  const std::string time = std::to_string(at.time_since_epoch().count());
  return name + "." + hex(sha256({kron_job.uid, "\n", reporter.instance, "\n", time, "\n", count})).substr(0, 16);
}

}  // namespace

NoticeLimit::Verdict NoticeLimit::judge(std::string_view identity, const Notice& notice, Nanoseconds monotonic) {
  forget_old(monotonic);
  std::deque<Said>& said = said_[std::string(identity)];
  while (!said.empty() && monotonic - said.front().at >= kPeriod) said.pop_front();
  const std::size_t what = std::hash<std::string>()(notice.reason + "\n" + notice.message);
  const auto is_repeated = [&](const Said& one) { return one.what == what && monotonic - one.at < kSame; };
  if (std::ranges::any_of(said, is_repeated)) return Verdict::repeated;
  const auto events = static_cast<std::size_t>(std::ranges::count(said, true, &Said::is_event));
  const bool is_event = events < (notice.is_warning ? kMost : kMostNormal);
  // One that runs every second says the most; what is repeated then is found among the latest.
  constexpr std::size_t kMostRemembered = 64;
  const auto first_silent = std::ranges::find(said, false, &Said::is_event);
  if (said.size() >= kMostRemembered && first_silent != said.end()) said.erase(first_silent);
  said.push_back({monotonic, what, is_event});
  return is_event ? Verdict::told : Verdict::too_many;
}

void NoticeLimit::forget_old(Nanoseconds monotonic) {
  if (monotonic - forgotten_at_ < kSame) return;
  forgotten_at_ = monotonic;
  std::erase_if(said_, [&](const auto& item) { return monotonic - item.second.back().at >= kPeriod; });
}

kube::Request event_request(const kube::ObjectMeta& kron_job, const Notice& notice, WallTime at, Reporter& reporter) {
  JsonWriter out;
  out.begin_map().member("apiVersion", "events.k8s.io/v1").member("kind", "Event").key("metadata").begin_map();
  out.member("name", event_name(kron_job, at, reporter)).member("namespace", kron_job.ns).end_map();
  out.member("eventTime", kube::micro_time(at)).member("reportingController", kReporter);
  out.member("reportingInstance", cut(reporter.instance, kLongestInstance));
  out.member("action", "Schedule").member("reason", notice.reason);
  out.member("type", notice.is_warning ? "Warning" : "Normal").member("note", cut(notice.message, kLongestNote));
  out.key("regarding").begin_map().member("apiVersion", kApiVersion).member("kind", kKind);
  out.member("namespace", kron_job.ns).member("name", kron_job.name);
  if (!kron_job.uid.empty()) out.member("uid", kron_job.uid);
  if (!kron_job.resource_version.empty()) out.member("resourceVersion", kron_job.resource_version);
  out.end_map().end_map();
  return {.verb = kube::Verb::create,
          .path = "/apis/events.k8s.io/v1/namespaces/" + kron_job.ns + "/events",
          .body = out.take()};
}

}  // namespace kron::kronjobs
