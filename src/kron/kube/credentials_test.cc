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

}  // namespace
}  // namespace kron::kube
