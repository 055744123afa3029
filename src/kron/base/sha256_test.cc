#include "kron/base/sha256.h"

#include <gtest/gtest.h>
#include <string>
#include <thread>

#include "kron/testing/property.h"

namespace kron {
namespace {

// The examples of FIPS 180-4.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256({"abc"})), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256({"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"})),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256({std::string(1'000'000, 'a')})),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, AMissingTextIsAnEmptyOne) { EXPECT_EQ(sha256({std::string_view(), "abc"}), sha256({"abc"})); }

TEST(Sha256, PartsAreOneText) {
  testing::for_all(500, [](const std::string& a, const std::string& b, const std::string& c) {
    RC_ASSERT(sha256({a, b, c}) == sha256({a + b + c}));
  });
}

TEST(Sha256, EachThreadHashesOnItsOwn) {
  Sha256 elsewhere{};
  std::thread([&] { elsewhere = sha256({"abc"}); }).join();
  EXPECT_EQ(elsewhere, sha256({"abc"}));
}

TEST(Sha256, IsReadAsItIsWritten) {
  EXPECT_EQ(sha256_in(hex(sha256({"abc"}))), sha256({"abc"}));
  for (const std::string& text :
       {std::string(), std::string(63, '0'), std::string(65, '0'), std::string(64, 'A'), std::string(64, 'g')}) {
    EXPECT_EQ(sha256_in(text), std::nullopt) << text;
  }
}

TEST(Sha256, LeadingNumberIsBigEndian) { EXPECT_EQ(leading_u64(sha256({"abc"})), 0xba7816bf8f01cfeaU); }

}  // namespace
}  // namespace kron
