#include "kron/operator/names.h"

#include <gtest/gtest.h>

#include "kron/base/sha256.h"
#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using testing::kNoon;

TEST(OperatorNames, OfAJobIsTheKronJobsAndTheHashOfThePeriod) {
  const std::string hash = hex(sha256({"shop/report\n2026-03-01T12:00:00Z"})).substr(0, 10);
  EXPECT_EQ(job_name("shop", "report", kNoon), "report-" + hash);
  EXPECT_EQ(period_mark("shop/report", kNoon), hash);
}

TEST(OperatorNames, AreDnsLabelsWhateverTheKronJobIsCalled) {
  EXPECT_TRUE(job_name("shop", "a.b.c", kNoon).starts_with("a-b-c-"));
  EXPECT_EQ(job_name("shop", std::string(63, 'x'), kNoon).size(), 51U);
  // Cut in the middle of "--".
  EXPECT_TRUE(job_name("shop", std::string(38, 'x') + "..yy", kNoon).starts_with(std::string(38, 'x') + "-"));
  EXPECT_EQ(job_name("shop", std::string(38, 'x') + "..yy", kNoon).size(), 49U);
}

TEST(OperatorNames, DifferByIdentityPeriodAndToken) {
  EXPECT_NE(job_name("shop", "report", kNoon), job_name("shop", "report", kNoon + Seconds(60)));
  EXPECT_NE(job_name("shop", "report", kNoon), job_name("other", "report", kNoon));
  EXPECT_NE(manual_job_name("shop", "report", "a"), manual_job_name("shop", "report", "b"));
  EXPECT_EQ(manual_job_name("shop", "report", "a").size(), job_name("shop", "report", kNoon).size());
}

TEST(OperatorNames, TokensAreShortAndPlain) {
  EXPECT_TRUE(is_token("2026-03-01_run.1"));
  EXPECT_TRUE(is_token(std::string(63, 'a')));
  EXPECT_FALSE(is_token(std::string(64, 'a')));
  EXPECT_FALSE(is_token(""));
  EXPECT_FALSE(is_token("a b"));
  EXPECT_FALSE(is_token("ä"));
}

}  // namespace
}  // namespace kron::kronjobs
