// What the operator makes of objects, and which calls it makes, for the tests of the manifests:
//   kube_probe read      each line of standard input, a KronJob as a server has stored it, as the operator sees it
//   kube_probe status    each line of standard input, a status, read and written again
//   kube_probe calls     verb and path of every kind of call about KronJobs, Jobs and the Lease
#include <iostream>
#include <string>
#include <string_view>

#include "kron/core/open_periods.h"
#include "kron/core/time_zone.h"
#include "kron/json/decide_request.h"
#include "kron/json/writer.h"
#include "kron/kube/election.h"
#include "kron/operator/calls.h"
#include "kron/operator/kron_job.h"

namespace kron::kronjobs {
namespace {

// 2026-03-01T12:00:00Z
constexpr std::int64_t kSomeTime = 1'772'366'400;

std::string seen(const std::string& line, ZoneDatabase& zones) {
  const Result<Node> object = parse_json(line, {.size = line.size(), .depth = 100});
  if (!object) return JsonWriter().begin_map().member("refused", object.error().message).end_map().take();
  const Result<KronJobView> view = view_kron_job(*object, zones);
  if (!view) return JsonWriter().begin_map().member("refused", view.error().message).end_map().take();
  JsonWriter out;
  out.begin_map().member("problem", view->problem).key("suspended").boolean(view->suspended);
  out.key("successful").integer(view->successful_limit).key("failed").integer(view->failed_limit);
  out.member("template", view->job_template);
  if (view->job) {
    const Policy& policy = view->job->policy;
    out.member("schedule", std::to_string(schedule_hash(*view->job)));
    out.member("decision", decide_request_json(*view->job, instant_of(kSomeTime)));
    out.member("concurrency", name_of(policy.concurrency)).key("deadline").integer(policy.deadline.count());
    out.key("suspend").boolean(policy.suspend);
  }
  return out.end_map().take();
}

std::string written_again(const std::string& line) {
  const Result<Node> object = parse_json(line, {.size = line.size(), .depth = 100});
  if (!object) return JsonWriter().begin_map().member("refused", object.error().message).end_map().take();
  const Result<KronJobStatus> status = read_status(&*object);
  if (!status) return JsonWriter().begin_map().member("refused", status.error().message).end_map().take();
  return status_json(*status);
}

std::string_view word_of(kube::Verb verb) {
  switch (verb) {
    case kube::Verb::get:
      return "get";
    case kube::Verb::create:
      return "create";
    case kube::Verb::update:
      return "update";
    case kube::Verb::patch:
      return "patch";
    case kube::Verb::remove:
      return "delete";
  }
  return {};
}

void print(const kube::Request& request) { std::cout << word_of(request.verb) << " " << request.path << "\n"; }

void print_calls_of_steps() {
  kube::ObjectMeta meta;
  meta.ns = "shop";
  meta.name = "report";
  meta.resource_version = "1";
  const Step steps[] = {Create{"report-1", "{}"}, TryTemplate{1, "{}"},     WriteStatus{},   Open{"report-1", "u"},
                        Remove{"report-1", "u"},  ReadJob{"report-1", "u"}, ReadKronJob{"u"}};
  static_assert(std::variant_size_v<Step> == 8, "a new kind of step: show its call here, and give it its right");
  for (const Step& step : steps) print(request_of(step, meta));
}

// It reads, finds none, creates, and renews.
void print_calls_of_election() {
  kube::Election election({.ns = "kron-system", .name = "kron-operator", .identity = "a"});
  Nanoseconds boot{0};
  const Node lease = parse_json(R"({"metadata":{"namespace":"kron-system","name":"kron-operator","uid":"u",
      "resourceVersion":"1","creationTimestamp":"2026-03-01T12:00:00Z"},"spec":{"holderIdentity":"a"}})")
                         .value();
  for (int call = 0; call < 3;) {
    const kube::Election::Step step = election.next(boot, WallTime(Seconds(kSomeTime) + boot));
    boot += Seconds(1);
    const auto* made = std::get_if<kube::Election::Call>(&step);
    if (made == nullptr) continue;
    print(made->request);
    election.answered(call == 0 ? kube::Answer{404, Node()} : kube::Answer{call == 1 ? 201 : 200, lease}, boot);
    ++call;
  }
}

}  // namespace
}  // namespace kron::kronjobs

int main(int argc, char** argv) {
  using namespace kron;
  const std::string_view what = argc == 2 ? argv[1] : "";
  ZoneDatabase zones;
  if (what == "calls") {
    kronjobs::print_calls_of_steps();
    kronjobs::print_calls_of_election();
    return 0;
  }
  if (what != "read" && what != "status") return 2;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << (what == "read" ? kronjobs::seen(line, zones) : kronjobs::written_again(line)) << "\n";
  }
  return 0;
}
