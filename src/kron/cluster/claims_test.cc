#include "kron/cluster/claims.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "kron/testing/property.h"
#include "kron/testing/temporary_directory.h"

namespace kron::cluster {
namespace {

Claim full_claim() {
  Claim claim;
  claim.grant = {.run_id = "0123456789abcdef0123456789abcdef",
                 .job = "nightly \"report\"",
                 .period = instant_of(1794768880),
                 .chosen = instant_of(1794768882),
                 .start_time = "1794768882.032079",
                 .fence = 17,
                 .lock_key = "{cronken}:locks:920a25ef686c4f7ca6ad23dd109d3ad653161832",
                 .ttl = Seconds(10),
                 .least_hold = std::chrono::milliseconds(250)};
  claim.process = {4711, 987654, "e6ad-boot"};
  claim.lines_shipped = 3;
  claim.bytes_shipped = 99;
  return claim;
}

class ClaimsTest : public ::testing::Test {
 protected:
  std::string path_of(const std::string& run_id) { return directory_.path() + "/claims/" + run_id; }

  kron::testing::TemporaryDirectory directory_;
  Claims claims_ = Claims::open(directory_.path()).value();
};

// docs/formats.md, "Claims of a host".
TEST(ClaimBytes, AreEightBytesOfDeadlineAndJsonThatIsPaddedToAPage) {
  const std::string bytes = claim_bytes(Nanoseconds(0x0102030405060708), full_claim());
  ASSERT_EQ(bytes.size(), kClaimFileSize);
  const std::int64_t deadline = 0x0102030405060708;
  EXPECT_EQ(std::memcmp(bytes.data(), &deadline, 8), 0);
  EXPECT_EQ(bytes.substr(8, bytes.rfind('}') + 1 - 8),
            R"({"run_id":"0123456789abcdef0123456789abcdef","job":"nightly \"report\"","period":1794768880,)"
            R"("chosen":1794768882,"trigger":"schedule","start_time":"1794768882.032079","fence":17,)"
            R"("lock":"{cronken}:locks:920a25ef686c4f7ca6ad23dd109d3ad653161832","ttl":10000000000,)"
            R"("least_hold":250000000,"pid":4711,"process_start":987654,"boot_id":"e6ad-boot","lines":3,"bytes":99})");
  EXPECT_EQ(bytes.back(), '\n');
  EXPECT_EQ(bytes.substr(bytes.rfind('}') + 1), std::string(bytes.size() - bytes.rfind('}') - 2, ' ') + "\n");
}

TEST(ClaimBytes, AreReadBack) {
  Claim claim = full_claim();
  const ReadClaim read = parse_claim(claim_bytes(Nanoseconds(5), claim), claim.grant.run_id).value();
  EXPECT_EQ(read.deadline, Nanoseconds(5));
  EXPECT_EQ(read.claim, claim);
  claim.grant.period.reset();
  claim.grant.chosen.reset();
  claim.grant.trigger = Trigger::manual;
  claim.grant.lock_key.clear();
  claim.grant.job = std::string(512, '"');
  claim.process = {};
  EXPECT_EQ(parse_claim(claim_bytes(kNoDeadline, claim), claim.grant.run_id)->claim, claim);
  claim.grant.job = std::string(5000, 'x');
  EXPECT_EQ(claim_bytes(kNoDeadline, claim).size(), 2 * kClaimFileSize);
  EXPECT_EQ(parse_claim(claim_bytes(kNoDeadline, claim), claim.grant.run_id)->claim, claim);
}

TEST(ClaimBytes, DamagedAreRefusedAndNeverCrashTheReader) {
  const Claim claim = full_claim();
  const std::string whole = claim_bytes(Nanoseconds(5), claim);
  EXPECT_FALSE(parse_claim(whole, "another"));
  for (const std::size_t size : {0U, 7U, 8U, 9U, 100U})
    EXPECT_FALSE(parse_claim(whole.substr(0, size), claim.grant.run_id));
  EXPECT_FALSE(parse_claim(std::string(kClaimFileSize, '\0'), claim.grant.run_id));
  EXPECT_FALSE(parse_claim("12345678[]", claim.grant.run_id));
  EXPECT_FALSE(parse_claim("12345678{}", claim.grant.run_id));
  kron::testing::for_all(300, [&] {
    std::string damaged = whole;
    for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
      damaged[*rc::gen::inRange<std::size_t>(0, 400)] = *rc::gen::arbitrary<char>();
    }
    const Result<ReadClaim> read = parse_claim(damaged, claim.grant.run_id);
    if (read) RC_ASSERT(!read->claim.grant.job.empty());
  });
}

TEST(LeaseDeadline, IsATenthOfTheTtlButAtMostASecondBeforeItsEnd) {
  using std::chrono::milliseconds;
  EXPECT_EQ(lease_deadline(Seconds(100), Seconds(1)), milliseconds(100'900));
  EXPECT_EQ(lease_deadline(Seconds(100), Seconds(5)), milliseconds(104'500));
  EXPECT_EQ(lease_deadline(Seconds(100), Seconds(10)), Seconds(109));
  EXPECT_EQ(lease_deadline(Seconds(100), Seconds(3600)), Seconds(3699));
  EXPECT_EQ(lease_deadline(Seconds(100), Seconds(0)), kNoDeadline);
}

TEST_F(ClaimsTest, AFileIsMadeOnceAndIsOnlyOurs) {
  const Claim claim = full_claim();
  const Result<ClaimFile> file = claims_.create(claim, Seconds(7));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->deadline(), Seconds(7));
  struct stat info {};
  ASSERT_EQ(::stat(path_of(claim.grant.run_id).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(path_of("").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  EXPECT_EQ(claims_.create(claim, Seconds(7)).error().code, Code::conflict);
}

TEST_F(ClaimsTest, NamesThatAreNoRunIdsAreRefused) {
  for (const char* bad : {"", "..", "a/b", ".hidden", "../../etc/passwd"}) {
    Claim claim = full_claim();
    claim.grant.run_id = bad;
    EXPECT_FALSE(claims_.create(claim, Seconds(7))) << bad;
    claims_.remove(bad);
  }
}

TEST_F(ClaimsTest, TheDeadlineAndTheRestAreWrittenApart) {
  Claim claim = full_claim();
  claim.process = {};
  ClaimFile file = claims_.create(claim, Seconds(7)).value();
  EXPECT_TRUE(file.set_deadline(Seconds(8)));
  claim.process = {12, 34, "boot"};
  claim.lines_shipped = 1234567;
  EXPECT_TRUE(file.write(claim));
  EXPECT_EQ(file.deadline(), Seconds(8));
  EXPECT_EQ(std::filesystem::file_size(path_of(claim.grant.run_id)), kClaimFileSize);
  const auto found = claims_.read_all().value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].claim, claim);
  EXPECT_EQ(found[0].file.deadline(), Seconds(8));
  EXPECT_EQ(found[0].damage, "");
}

TEST_F(ClaimsTest, WhatIsThereIsFoundAndWhatIsDamagedIsNamed) {
  Claim claim = full_claim();
  ASSERT_TRUE(claims_.create(claim, Seconds(7)));
  claim.grant.run_id = "a";
  ASSERT_TRUE(claims_.create(claim, Seconds(7)));
  std::ofstream(path_of("torn")) << "1234";
  std::ofstream(path_of("empty"));
  std::ofstream(path_of(".hidden")) << "not ours";
  ASSERT_EQ(::symlink("/etc/passwd", path_of("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(path_of("pipe").c_str(), 0600), 0);
  const auto found = Claims::open(directory_.path())->read_all().value();
  std::vector<std::string> whole;
  std::vector<std::string> damaged;
  for (const Claims::Found& each : found) (each.damage.empty() ? whole : damaged).push_back(each.run_id);
  EXPECT_EQ(whole, (std::vector<std::string>{"0123456789abcdef0123456789abcdef", "a"}));
  EXPECT_EQ(damaged, (std::vector<std::string>{"empty", "link", "pipe", "torn"}));
  claims_.remove("a");
  claims_.remove("never there");
  EXPECT_FALSE(std::filesystem::exists(path_of("a")));
}

}  // namespace
}  // namespace kron::cluster
