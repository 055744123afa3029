// Whoever is not let in costs the same, whatever is wrong with what he shows: the hashes are counted, and what is
// hashed. No clock could tell that apart on a busy machine.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <utility>

#include "kron/api/fake/api_rig.h"
#include "kron/base/token_text.h"

namespace kron::api::equal_work_test {
namespace {

struct Work {
  int hashes = 0;
  std::size_t bytes = 0;
  bool operator==(const Work&) const = default;
};
thread_local Work counted;

}  // namespace

void count_hash() { ++counted.hashes; }
void count_bytes(std::size_t bytes) { counted.bytes += bytes; }

namespace {

class EqualWork : public ApiRig {
 protected:
  Work work_for(const http::Fields& headers) {
    const http::Request head{
        .method = "GET", .target = "/api/v1/jobs", .segments = {"api", "v1", "jobs"}, .headers = headers};
    counted = {};
    EXPECT_TRUE(std::holds_alternative<http::Response>(identify_by_token(head, access_, false)));
    return counted;
  }
  static http::Fields shows(const std::string& token) { return {{"authorization", "Bearer " + token}}; }
};

TEST_F(EqualWork, OfAllTokensThatAreNotGood) {
  const auto good = new_token("good", Right::read);
  const auto gone = new_token("gone", Right::admin);
  const auto old = new_token("old", Right::admin, Seconds(1));
  ASSERT_TRUE(access_.revoke(gone.record.id));
  host_.clock.advance(Seconds(2));
  std::string checksum = good.token;
  checksum.back() = checksum.back() == 'a' ? 'b' : 'a';
  std::string secret = good.token;
  secret[20] = secret[20] == 'a' ? 'b' : 'a';
  (void)work_for(shows(kron::token_text({1}, {})));  // a thread keeps its algorithm from the first hash on
  const Work one = work_for(shows(kron::token_text({1, 2, 3, 4, 5}, {})));
  EXPECT_EQ(one.hashes, 1);
  EXPECT_EQ(one.bytes, kTokenSize);
  for (const std::string& token : {gone.token, old.token, checksum, secret, good.token + "x", good.token.substr(0, 30),
                                   std::string("kron_"), "kron_" + std::string(4000, 'a')}) {
    EXPECT_EQ(work_for(shows(token)), one) << token.substr(0, 80);
  }
}

// Of as many bytes, whatever is wrong with them. A longer one costs more, which its sender knows.
TEST_F(EqualWork, OfAllSessionsThatAreNotGood) {
  const auto token = new_token("ada", Right::read);
  const auto session = access_.open_session(token.token);
  ASSERT_TRUE(session);
  std::string mac = session->text;
  mac.back() = mac.back() == 'a' ? 'b' : 'a';
  std::string id = session->text;
  id[5] = id[5] == 'a' ? 'b' : 'a';
  const Work one = work_for(shows(mac));
  EXPECT_GE(one.hashes, 1);
  EXPECT_EQ(work_for(shows(id)), one);
  ASSERT_TRUE(access_.revoke(token.record.id));
  EXPECT_EQ(work_for(shows(session->text)), one) << "of a token that is revoked";
}

}  // namespace
}  // namespace kron::api::equal_work_test

// What this program calls of OpenSSL comes by here.
extern "C" int EVP_DigestInit_ex2(EVP_MD_CTX* context, const EVP_MD* type, const OSSL_PARAM params[]) {
  static const auto real = reinterpret_cast<decltype(&EVP_DigestInit_ex2)>(dlsym(RTLD_NEXT, "EVP_DigestInit_ex2"));
  kron::api::equal_work_test::count_hash();
  return real(context, type, params);
}
extern "C" int EVP_DigestUpdate(EVP_MD_CTX* context, const void* data, std::size_t size) {
  static const auto real = reinterpret_cast<decltype(&EVP_DigestUpdate)>(dlsym(RTLD_NEXT, "EVP_DigestUpdate"));
  kron::api::equal_work_test::count_bytes(size);
  return real(context, data, size);
}
