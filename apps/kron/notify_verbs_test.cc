#include "notify_verbs.h"

#include <gtest/gtest.h>

namespace kron::cli {
namespace {

constexpr char kBody[] = R"({"text":"backup failed\nBcc: everybody@example.org","job":"backup","kind":"failed"})";

TEST(Notify, AMailSaysWhatTheMessageDoes) {
  const jobs::Mail mail{.to = {"ops@example.org", "me@example.org"}, .from = "kron@example.org"};
  const std::string text = mail_text(mail, kBody, "notify-1");
  EXPECT_TRUE(text.starts_with("To: ops@example.org, me@example.org\nFrom: kron@example.org\nSubject: [kron] backup"));
  EXPECT_NE(text.find("\nX-Kron-Message: notify-1\n"), std::string::npos);
  EXPECT_NE(text.find("\njob: backup\n"), std::string::npos);
}

TEST(Notify, NothingInAMessageBeginsAHeader) {
  const std::string text = mail_text({.to = {"a@b"}}, kBody, "notify-1\nBcc: x@y");
  const std::string headers = text.substr(0, text.find("\n\n"));
  EXPECT_EQ(headers.find("\nBcc:"), std::string::npos) << headers;
}

TEST(Notify, ACommandGetsTheMessageAndItsExitStatusCounts) {
  EXPECT_TRUE(send_message(jobs::NotifyCommand{{"/bin/sh", "-c", "read line; test -n \"$line\""}}, kBody, "1"));
  const Status failed = send_message(jobs::NotifyCommand{{"/bin/sh", "-c", "exit 3"}}, kBody, "1");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "/bin/sh ended with status 3");
  EXPECT_FALSE(send_message(jobs::NotifyCommand{{"/no/such/program"}}, kBody, "1"));
}

TEST(Notify, AProgramThatDoesNotReadItAllMayStillSucceed) {
  EXPECT_TRUE(send_message(jobs::NotifyCommand{{"/bin/true"}}, std::string(std::size_t{1} << 20, ' '), "1"));
}

TEST(Notify, AReceiverThatIsNotThereIsUnreachable) {
  const Status sent = send_message(jobs::Webhook{.url = "http://127.0.0.1:1/x"}, kBody, "1");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::unreachable);
}

TEST(Notify, OnlyThisMachineIsToldInTheClear) {
  EXPECT_FALSE(send_message(jobs::Webhook{.url = "http://hooks.example.org/x"}, kBody, "1"));
}

}  // namespace
}  // namespace kron::cli
