#include "kron/operator/notices.h"

#include <gtest/gtest.h>
#include <set>

#include "kron/base/rfc3339.h"
#include "kron/json/document.h"

namespace kron::kronjobs {
namespace {

using Judged = NoticeLimit::Verdict;
using std::chrono::minutes;

Notice said(std::string message, bool is_warning = false) { return {is_warning, "Executed", std::move(message)}; }

TEST(Notices, TellTheSameOfOneKronJobOnceInTenMinutes) {
  NoticeLimit limit;
  EXPECT_EQ(limit.judge("shop/report", said("a"), minutes(0)), Judged::told);
  EXPECT_EQ(limit.judge("shop/report", said("a"), minutes(9)), Judged::repeated);
  EXPECT_EQ(limit.judge("shop/report", said("b"), minutes(9)), Judged::told);
  EXPECT_EQ(limit.judge("shop/other", said("a"), minutes(9)), Judged::told);
  EXPECT_EQ(limit.judge("shop/report", said("a"), minutes(10)), Judged::told);
}

TEST(Notices, AreNoMoreEventsThan25OfAKronJobInAnHourAndTheLastFiveAreWarnings) {
  NoticeLimit limit;
  int normal = 0;
  int warnings = 0;
  for (int i = 0; i < 50; ++i) {
    normal += limit.judge("shop/report", said("n" + std::to_string(i)), minutes(i)) == Judged::told ? 1 : 0;
  }
  for (int i = 0; i < 50; ++i) {
    warnings += limit.judge("shop/report", said("w" + std::to_string(i), true), minutes(50)) == Judged::told ? 1 : 0;
  }
  EXPECT_EQ(normal, 20);
  EXPECT_EQ(warnings, 5);
  EXPECT_EQ(limit.judge("shop/report", said("later"), minutes(60)), Judged::too_many);
  EXPECT_EQ(limit.judge("shop/report", said("later", true), minutes(60)), Judged::repeated) << "it is in the log";
  EXPECT_EQ(limit.judge("shop/report", said("bad", true), minutes(60)), Judged::told) << "the first is an hour old";
}

TEST(Notices, ForgetKronJobsThatSayNothing) {
  NoticeLimit limit;
  for (int i = 0; i < 100; ++i) limit.judge("shop/" + std::to_string(i), said("a"), minutes(0));
  EXPECT_EQ(limit.remembered(), 100U);
  limit.judge("shop/x", said("a"), minutes(61));
  EXPECT_EQ(limit.remembered(), 1U);
}

TEST(Notices, BecomeEventsAsTheServerTakesThem) {
  const kube::ObjectMeta report{.ns = "shop", .name = "report", .uid = "uid-1", .resource_version = "7"};
  Reporter reporter{.instance = "host_1"};
  const WallTime at = parse_rfc3339("2026-03-01T12:00:00Z").value() + std::chrono::microseconds(250);
  const kube::Request request = event_request(report, {true, "Missed", "period: missed"}, at, reporter);
  EXPECT_EQ(request.verb, kube::Verb::create);
  EXPECT_EQ(request.path, "/apis/events.k8s.io/v1/namespaces/shop/events");
  const Node body = parse_json(request.body).value();
  const std::string name = kube::text_at(body, {"metadata", "name"});
  EXPECT_EQ(name.substr(0, 7), "report.");
  EXPECT_EQ(name.size(), 7U + 16U);
  EXPECT_EQ(kube::text_at(body, {"eventTime"}), "2026-03-01T12:00:00.000250Z");
  EXPECT_EQ(kube::text_at(body, {"type"}), "Warning");
  EXPECT_EQ(kube::text_at(body, {"note"}), "period: missed");
  EXPECT_EQ(kube::text_at(body, {"regarding", "uid"}), "uid-1");
  EXPECT_EQ(kube::text_at(body, {"regarding", "kind"}), "KronJob");
  EXPECT_FALSE(kube::text_at(body, {"action"}).empty()) << "the server demands one";
}

TEST(Notices, HaveNamesOfTheirOwnWhateverTheKronJobIsCalled) {
  Reporter reporter{.instance = std::string(300, 'h')};
  const WallTime at = parse_rfc3339("2026-03-01T12:00:00Z").value();
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) {
    const kube::ObjectMeta odd{.ns = "shop", .name = std::string(229, 'a') + "." + std::string(23, 'b')};
    const Node body = parse_json(event_request(odd, said(std::string(3000, 'x')), at, reporter).body).value();
    const std::string name = kube::text_at(body, {"metadata", "name"});
    EXPECT_LE(name.size(), 253U);
    EXPECT_EQ(name.find(".."), std::string::npos);
    EXPECT_LE(kube::text_at(body, {"note"}).size(), 1000U);
    EXPECT_LE(kube::text_at(body, {"reportingInstance"}).size(), 128U);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), 3U);
}

}  // namespace
}  // namespace kron::kronjobs
