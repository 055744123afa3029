#include "kron/kube/credentials.h"

#include <gtest/gtest.h>
#include <map>

namespace kron::kube {
namespace {

struct Files {
  std::map<std::string, std::string> texts;
  int reads = 0;

  Credentials::ReadFile reader() {
    return [this](const std::string& path) -> Result<std::string> {
      ++reads;
      const auto found = texts.find(path);
      if (found == texts.end()) return fail(Code::not_found, "no " + path);
      return found->second;
    };
  }
};

Connection with_token_file() {
  Connection connection;
  connection.server = "https://a";
  connection.token.file = "/token";
  return connection;
}

TEST(Credentials, OfTextsNeedNoFile) {
  Connection connection;
  connection.token.text = "abc";
  connection.certificate.text = "cert";
  connection.key.text = "key";
  Files files;
  Credentials credentials(connection, files.reader());
  EXPECT_EQ(credentials.current(Seconds(0)).value(), (Material{.certificate = "cert", .key = "key", .token = "abc"}));
  EXPECT_EQ(files.reads, 0);
}

TEST(Credentials, ReadATokenAgainOnceAMinute) {
  Files files{{{"/token", "one\n"}}};
  Credentials credentials(with_token_file(), files.reader());
  EXPECT_EQ(credentials.current(Seconds(0)).value().token, "one");
  files.texts["/token"] = "two";
  EXPECT_EQ(credentials.current(Seconds(59)).value().token, "one");
  EXPECT_EQ(credentials.current(Seconds(60)).value().token, "two");
  EXPECT_EQ(files.reads, 2);
}

TEST(Credentials, ReadATokenAgainWhenTheServerRefusesItButNotInAStorm) {
  Files files{{{"/token", "one"}}};
  Credentials credentials(with_token_file(), files.reader());
  EXPECT_TRUE(credentials.current(Seconds(0)));
  files.texts["/token"] = "two";
  for (int i = 0; i < 100; ++i) {
    credentials.expire();
    EXPECT_EQ(credentials.current(std::chrono::milliseconds(500)).value().token, "one");
  }
  EXPECT_EQ(files.reads, 1);
  EXPECT_EQ(credentials.current(Seconds(1)).value().token, "two");
  EXPECT_EQ(credentials.current(Seconds(2)).value().token, "two");
  EXPECT_EQ(files.reads, 2);
}

TEST(Credentials, GoOnWithWhatTheyHadWhileTheFilesCannotBeRead) {
  Files files{{{"/token", "one"}}};
  Credentials credentials(with_token_file(), files.reader());
  EXPECT_TRUE(credentials.current(Seconds(0)));
  files.texts.clear();
  EXPECT_EQ(credentials.current(Seconds(60)).value().token, "one");
  EXPECT_EQ(credentials.trouble(), "no /token");
  files.texts["/token"] = " ";  // as it is while it is being written
  EXPECT_EQ(credentials.current(Seconds(61)).value().token, "one");
  files.texts["/token"] = "two";
  EXPECT_EQ(credentials.current(Seconds(62)).value().token, "two");
  EXPECT_EQ(credentials.trouble(), "");
}

TEST(Credentials, ThatNeverWereAreAnError) {
  Files files;
  Credentials credentials(with_token_file(), files.reader());
  EXPECT_EQ(credentials.current(Seconds(0)).error().code, Code::not_found);
  files.texts["/token"] = "one";
  EXPECT_TRUE(credentials.current(Seconds(0)));
}

TEST(Credentials, LetNoTokenAddALineToARequest) {
  Files files{{{"/token", "one\r\nX-Evil: yes"}}};
  Credentials credentials(with_token_file(), files.reader());
  const auto refused = credentials.current(Seconds(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("Evil"), std::string::npos);
}

Connection with_plugin() {
  Connection connection;
  connection.server = "https://a";
  connection.authority.file = "/ca";
  connection.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1", .command = "plug-in"};
  return connection;
}

class PluginCredentialsTest : public ::testing::Test {
 protected:
  void give(const std::string& token, Nanoseconds now, std::optional<Seconds> life = {}) {
    ExecCredential credential{.token = token};
    if (life) credential.expires = kWall + *life;
    credentials.given(credential, now, kWall);
  }
  [[nodiscard]] std::string token(Nanoseconds now) {
    const auto material = credentials.current(now);
    return material ? material->token : "none";
  }

  static constexpr Instant kWall = instant_of(1'795'000'000);
  Files files{{{"/ca", "authority"}}};
  Credentials credentials{with_plugin(), files.reader()};
};

TEST_F(PluginCredentialsTest, AreWaitedForAndUsed) {
  EXPECT_EQ(token(Seconds(0)), "none");
  EXPECT_TRUE(credentials.wants_plugin(Seconds(0)));
  EXPECT_FALSE(credentials.wants_plugin(Seconds(0))) << "one at a time";
  EXPECT_TRUE(credentials.must_wait(Seconds(1)));
  EXPECT_EQ(credentials.cluster().authority, "authority");
  give("one", Seconds(2));
  EXPECT_FALSE(credentials.must_wait(Seconds(2)));
  EXPECT_EQ(token(Seconds(2)), "one");
  EXPECT_EQ(credentials.current(Seconds(2))->authority, "authority");
  EXPECT_FALSE(credentials.wants_plugin(std::chrono::hours(10))) << "they never expire";
}

TEST_F(PluginCredentialsTest, AreRenewedBeforeTheyExpireAndNotUsedAfterwards) {
  credentials.wants_plugin(Seconds(0));
  give("one", Seconds(0), Seconds(1000));
  EXPECT_FALSE(credentials.wants_plugin(Seconds(939)));
  EXPECT_TRUE(credentials.wants_plugin(Seconds(940)));
  EXPECT_FALSE(credentials.must_wait(Seconds(940)));
  EXPECT_EQ(token(Seconds(999)), "one");
  EXPECT_TRUE(credentials.must_wait(Seconds(1000)));
  EXPECT_EQ(token(Seconds(1000)), "none");
  give("two", Seconds(1001), Seconds(10));
  EXPECT_EQ(token(Seconds(1001)), "two");
  EXPECT_TRUE(credentials.wants_plugin(Seconds(1009))) << "a short life is renewed in its last fifth";
}

TEST_F(PluginCredentialsTest, ThatAreRefusedAreAskedForAnewButNotInAStorm) {
  credentials.wants_plugin(Seconds(0));
  give("one", Seconds(0));
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    const Nanoseconds now = std::chrono::milliseconds(10 * i);
    credentials.expire();
    if (!credentials.wants_plugin(now)) continue;
    ++runs;
    give("two", now);
  }
  EXPECT_EQ(runs, 0) << "within the second of its last run";
  EXPECT_TRUE(credentials.wants_plugin(Seconds(1)));
  EXPECT_TRUE(credentials.must_wait(Seconds(1)));
  give("three", Seconds(1));
  EXPECT_EQ(token(Seconds(1)), "three");
}

TEST_F(PluginCredentialsTest, ThatDoNotComeAreAskedForAgainAfterAPause) {
  credentials.wants_plugin(Seconds(0));
  credentials.given(fail(Code::unreachable, "it ended with status 1"), Seconds(3), kWall);
  EXPECT_EQ(credentials.trouble(), "it ended with status 1");
  EXPECT_EQ(credentials.current(Seconds(3)).error().message, "it ended with status 1");
  EXPECT_FALSE(credentials.must_wait(Seconds(3))) << "nobody waits for what does not come";
  EXPECT_FALSE(credentials.wants_plugin(Seconds(7)));
  EXPECT_TRUE(credentials.wants_plugin(Seconds(8)));
}

}  // namespace
}  // namespace kron::kube
