#include "kron/kube/lease.h"

#include <gtest/gtest.h>

#include "kron/kube/object.h"

namespace kron::kube {
namespace {

Node stored(const std::string& spec) {
  return parse_json(R"({"metadata":{"namespace":"kron","name":"op","uid":"u","resourceVersion":"7",)"
                    R"("creationTimestamp":"2026-11-17T10:00:00Z"},"spec":)" +
                    spec + "}")
      .value();
}

constexpr WallTime kTen = WallTime(instant_of(1'795'000'000)) + std::chrono::microseconds(250);

TEST(LeaseTimes, HaveSixDigits) {
  EXPECT_EQ(micro_time(WallTime(instant_of(0))), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(micro_time(WallTime(instant_of(0)) + Nanoseconds(1'999)), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(micro_time(WallTime(instant_of(1)) - Nanoseconds(1)), "1970-01-01T00:00:00.999999Z");
}

TEST(Lease, IsReadAsItWasWritten) {
  Lease lease{.ns = "kron", .name = "op", .holder = "a_1", .duration = Seconds(20), .acquired = kTen, .renewed = kTen};
  lease.transitions = 4;
  lease.resource_version = "7";
  const Node body = parse_json(lease_body(lease)).value();
  EXPECT_EQ(text_at(body, {"metadata", "resourceVersion"}), "7");
  const std::string text = lease_body(lease);
  const std::string spec = text.substr(text.find("\"spec\":") + 7);
  EXPECT_EQ(read_lease(stored(spec.substr(0, spec.size() - 1))).value(), lease);
}

TEST(Lease, ThatIsNewNamesNoVersion) {
  const Node body = parse_json(lease_body({.ns = "kron", .name = "op"})).value();
  EXPECT_EQ(body.find("metadata")->find("resourceVersion"), nullptr);
}

TEST(Lease, OfNobodyReadsAsEmpty) {
  const Lease lease =
      read_lease(stored(R"({"holderIdentity":null,"leaseDurationSeconds":null,"renewTime":null})")).value();
  EXPECT_EQ(lease.holder, "");
  EXPECT_EQ(lease.duration, Seconds(15));
  EXPECT_EQ(lease.renewed, std::nullopt);
  EXPECT_EQ(read_lease(stored("null")).value().holder, "");
}

TEST(Lease, WithSenselessNumbersKeepsNobodyOutForEver) {
  const Lease lease =
      read_lease(stored(R"({"holderIdentity":"x","leaseDurationSeconds":9000000000000,"leaseTransitions":-3})"))
          .value();
  EXPECT_EQ(lease.duration, std::chrono::hours(24));
  EXPECT_EQ(lease.transitions, 0);
  EXPECT_EQ(read_lease(stored(R"({"leaseDurationSeconds":-1})")).value().duration, Seconds(1));
}

TEST(Lease, OfAnotherAgeHasNoTimes) {
  const Lease lease =
      read_lease(stored(R"({"acquireTime":"0001-01-01T00:00:00Z","renewTime":"9861-10-27T02:00:02.000000Z"})")).value();
  EXPECT_EQ(lease.acquired, std::nullopt);
  EXPECT_EQ(lease.renewed, std::nullopt);
}

TEST(Lease, WithoutMetadataIsNone) {
  EXPECT_FALSE(read_lease(parse_json("{}").value()));
  EXPECT_FALSE(read_lease(Node()));
}

}  // namespace
}  // namespace kron::kube
