#include "notify_verbs.h"

#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "kron/daemon/notifier.h"
#include "kron/env/descriptor.h"

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

// What it has started has the pipe, too: whoever reads it to its end waits for all of them.
TEST(Notify, ACommandThatDoesNotEndIsKilledAtTheLimitWithAllThatItHasStarted) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const std::string script = "exec >&" + std::to_string(writing.get()) + "; sleep 1000 & sleep 1000";
  const auto begun = std::chrono::steady_clock::now();
  const Status sent = send_message(jobs::NotifyCommand{{"/bin/sh", "-c", script}}, kBody, "1", Seconds(1));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, Seconds(1));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::unreachable);
  EXPECT_NE(sent.error().message.find("/bin/sh has not ended within 1s and was killed"), std::string::npos)
      << sent.error().message;
  writing = Descriptor();
  pollfd end{reading.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 60'000), 1) << "somebody still has it";
  char byte = 0;
  EXPECT_EQ(::read(reading.get(), &byte, 1), 0);
}

TEST(Notify, ATestMayTakeAsLongAsADeliveryOfKrond) {
  AlarmMessage message;
  message.to = {"ops"};
  const std::vector<NewTask> tasks = daemon::tasks_of("job", message, "host");
  EXPECT_EQ(tasks.at(0).timeout, kLongestDelivery);
}

TEST(Notify, AProgramThatReadsNothingIsKilledAtTheLimitHoweverMuchThereIsToRead) {
  const std::string much(std::size_t{1} << 20, ' ');
  EXPECT_FALSE(send_message(jobs::NotifyCommand{{"/bin/sleep", "1000"}}, much, "1", Seconds(1)));
}

TEST(Notify, ACommandWithinTheLimitIsReadAsWithoutOne) {
  EXPECT_TRUE(send_message(jobs::NotifyCommand{{"/bin/sh", "-c", "test $(wc -c) -gt 1000000"}},
                           std::string(std::size_t{1} << 20, ' '), "1", Seconds(60)));
  const Status failed = send_message(jobs::NotifyCommand{{"/bin/sh", "-c", "exit 3"}}, kBody, "1", Seconds(60));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "/bin/sh ended with status 3");
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
