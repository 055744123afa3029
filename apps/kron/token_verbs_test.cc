#include <filesystem>
#include <fstream>
#include <sys/stat.h>

#include "fake_krond.h"

// `kron token …`.
namespace kron::cli::token_verbs_test {
namespace {

constexpr char kMade[] =
    R"({"id":"abcdefgh","name":"ci","role":"operate","createdAt":"2026-03-01T00:00:00Z","createdBy":"root",)"
    R"("expiresAt":"2026-05-30T00:00:00Z","token":"kron_abcdefgh_secret"})";

TEST(TokenVerbs, ATokenIsPrintedOnceAndAlone) {
  FakeKrond krond;
  krond.on("POST /tokens", kMade, 201);
  const Ran ran = krond.kron({"token", "create", "ci", "--role", "operate", "--expires", "90d"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "kron_abcdefgh_secret\n");
  EXPECT_THAT(ran.err, AllOf(HasSubstr("abcdefgh"), HasSubstr("nobody can show it again"), Not(HasSubstr("secret"))));
  EXPECT_THAT(krond.asked(), ElementsAre(R"(POST /tokens {"name":"ci","role":"operate","expiresIn":"90d"})"));
}

TEST(TokenVerbs, ATokenGoesIntoANewFileOfItsOwner) {
  FakeKrond krond;
  krond.on("POST /tokens", kMade, 201);
  const std::string path = ::testing::TempDir() + "kron-token-" + std::to_string(::getpid());
  std::filesystem::remove(path);
  const Ran ran = krond.kron({"token", "create", "ci", "--role", "operate", "--out", path});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("secret")));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "kron_abcdefgh_secret\n");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const Ran again = krond.kron({"token", "create", "ci", "--role", "operate", "--out", path});
  EXPECT_NE(again.status, 0) << "what is there is not written over";
  EXPECT_EQ(krond.asked().size(), 1U) << "and no token is made that nobody would have";
  std::filesystem::remove(path);
  FakeKrond other;
  other.refuse("POST /tokens", {Code::conflict, "the name is taken"});
  EXPECT_EQ(other.kron({"token", "create", "ci", "--role", "read", "--out", path}).status, 4);
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing is left of what was refused";
}

TEST(TokenVerbs, ARoleIsOneOfThree) {
  FakeKrond krond;
  EXPECT_EQ(krond.kron({"token", "create", "ci"}).status, 2);
  EXPECT_EQ(krond.kron({"token", "create", "ci", "--role", "own"}).status, 2);
  EXPECT_EQ(krond.kron({"token", "create", "--role", "read"}).status, 2);
  EXPECT_THAT(krond.asked(), IsEmpty());
}

TEST(TokenVerbs, TokensAreListedAndNeverShown) {
  FakeKrond krond;
  krond.on("GET /tokens",
           R"({"tokens":[{"id":"abcdefgh","name":"ci\u001b","role":"operate","createdAt":"2026-03-01T00:00:00Z",)"
           R"("createdBy":"root","expiresAt":null,"lastUsedAt":null}]})");
  const Ran ran = krond.kron({"token", "list"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("abcdefgh"), HasSubstr("operate"), HasSubstr("never"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(krond.kron({"token", "list", "--format", "json"}).status, 0);
}

TEST(TokenVerbs, OneIsRevokedOrAllSessionsAre) {
  FakeKrond krond;
  krond.on("DELETE /tokens/abcdefgh", kMade);
  krond.on("DELETE /sessions", http::Response{.status = 204, .content_type = {}});
  EXPECT_EQ(krond.kron({"token", "revoke", "abcdefgh"}).out, "revoked abcdefgh, named ci\n");
  EXPECT_EQ(krond.kron({"token", "revoke", "--sessions"}).out, "ended all sessions\n");
  EXPECT_EQ(krond.kron({"token", "revoke"}).status, 2);
  EXPECT_EQ(krond.kron({"token", "revoke", "abcdefgh", "--sessions"}).status, 2);
  krond.refuse("DELETE /tokens/nobodyxx", {Code::not_found, "there is no token"});
  EXPECT_EQ(krond.kron({"token", "revoke", "nobodyxx"}).status, 1);
}

}  // namespace
}  // namespace kron::cli::token_verbs_test
