// krond asked over the network.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "doctor.h"
#include "fake_krond.h"
#include "kron/base/rfc3339.h"
#include "krond_place.h"
#include "private_memory.h"

namespace kron::cli {
namespace {

constexpr char kToken[] = "kron_abcdefgh_0123456789";

class Remote : public ::testing::Test {
 protected:
  Remote() {
    testing::way_in() = testing::Way::tls;
    krond_.emplace();
    testing::way_in() = testing::Way::unix_socket;
    std::ofstream(token_file_) << kToken << "\n";
    ::chmod(token_file_.c_str(), 0600);
  }

  // `kron WORD… --url URL --ca-file FILE --token-file FILE`
  Ran kron(Words words) const {
    for (const std::string& word : {std::string("--url"), krond_->url(), std::string("--ca-file"),
                                    testing::tls_rig().ca_file(), std::string("--token-file"), token_file_}) {
      words.push_back(word);
    }
    Ran ran = testing::kron(words);
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr(kToken)));
    return ran;
  }
  http::Endpoint place(const KrondOptions& options) const {
    auto found = krond_place(options);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(http::Endpoint());
  }

  testing::TemporaryDirectory directory_;
  std::string token_file_ = directory_.file("token");
  std::optional<FakeKrond> krond_;
  Variable no_url_{"KRON_URL", nullptr};
  Variable no_token_{"KRON_TOKEN", nullptr};
  Variable no_token_file_{"KRON_TOKEN_FILE", nullptr};
  Variable no_ca_file_{"KRON_CA_FILE", nullptr};
};

TEST_F(Remote, VerbsAskWithTheToken) {
  krond_->on("GET /status", R"({"version":"1","jobs":3})");
  krond_->on("GET /status?changes=true", R"({"version":"1","jobs":3,"host":"far"})");
  krond_->on("GET /jobs?limit=100", R"({"jobs":[]})");
  krond_->on("GET /tasks?limit=100", R"({"tasks":[]})");
  krond_->on("GET /state?limit=1000", R"({"records":[]})");
  krond_->on("POST /jobs/a%2Fb/pause", "{}");
  krond_->stream("GET /events", {"id: 1\nevent: x\ndata: {\"event\":\"x\"}\n\n"});
  EXPECT_EQ(kron({"status", "--format", "json"}).status, 0);
  EXPECT_EQ(kron({"jobs"}).status, 0);
  EXPECT_EQ(kron({"task", "list"}).status, 0);
  EXPECT_EQ(kron({"state", "list", "--format", "json"}).status, 0);
  EXPECT_EQ(kron({"pause", "a/b"}).status, 0);
  const Ran events = kron({"events", "--limit", "1"});
  EXPECT_EQ(events.status, 0) << events.err;
  const auto sent = krond_->headers("authorization");
  EXPECT_GE(sent.size(), 6U);
  EXPECT_THAT(sent, Each(std::string("Bearer ") + kToken));
}

TEST_F(Remote, TheEnvironmentNamesIt) {
  krond_->on("GET /jobs?limit=100", R"({"jobs":[]})");
  const Variable url("KRON_URL", krond_->url().c_str());
  const Variable ca("KRON_CA_FILE", testing::tls_rig().ca_file().c_str());
  {
    const Variable token("KRON_TOKEN", kToken);
    EXPECT_EQ(testing::kron({"jobs"}).status, 0);
  }
  {
    const Variable file("KRON_TOKEN_FILE", token_file_.c_str());
    const Variable token("KRON_TOKEN", "another");
    EXPECT_EQ(testing::kron({"jobs"}).status, 0);
  }
  EXPECT_THAT(krond_->headers("authorization"), Each(std::string("Bearer ") + kToken));
  // A flag goes before it.
  FakeKrond near;
  near.on("GET /jobs?limit=100", R"({"jobs":[]})");
  EXPECT_EQ(near.kron({"jobs"}).status, 0);
  EXPECT_THAT(near.asked(), ElementsAre("GET /jobs?limit=100"));
  const Variable socket("KRON_SOCKET", near.socket().c_str());
  EXPECT_EQ(place({}).text(), krond_->url());
}

TEST_F(Remote, WhatDoesNotBelongTogetherIsRefused) {
  const std::string url = krond_->url();
  const Ran both = testing::kron({"status", "--url", url, "--socket", "/x"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("--socket"));
  EXPECT_EQ(testing::kron({"status", "--url", url, "--state-dir", "/x"}).status, 2);
  EXPECT_EQ(testing::kron({"task", "list", "--url", url, "--data-dir", "/x"}).status, 2);
  EXPECT_EQ(testing::kron({"task", "list", "--url", url, "--redis", "redis://x"}).status, 2);
  EXPECT_EQ(testing::kron({"next", "j", "--url", url, "--file", "/x"}).status, 2);
  const Ran alone = testing::kron({"status", "--token-file", token_file_});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("--url"));
  EXPECT_EQ(krond_place({.socket = "/s", .url = url}).error().code, Code::unreadable);
  for (const char* verb : {"edit", "web"}) {
    const Variable named("KRON_URL", url.c_str());
    const Ran ran = testing::kron({verb, std::string_view(verb) == "edit" ? "a" : "--no-open"});
    EXPECT_EQ(ran.status, 4) << verb;
    EXPECT_THAT(ran.err, HasSubstr("its own host")) << verb;
  }
  EXPECT_THAT(krond_->asked(), IsEmpty());
}

TEST_F(Remote, AWrongUrlTokenOrAuthorityIsSaidBeforeAnythingIsSent) {
  const std::string url = krond_->url();
  const auto refusal = [](const KrondOptions& options) {
    const auto found = krond_place(options);
    EXPECT_FALSE(found);
    return found ? std::string() : std::string(name_of(found.error().code)) + ": " + found.error().message;
  };
  EXPECT_THAT(refusal({.url = "http://far.example:8126"}),
              AllOf(StartsWith("unreadable: --url: "), HasSubstr("token")));
  EXPECT_THAT(refusal({.url = url, .token_file = directory_.file("none")}), HasSubstr(directory_.file("none")));
  EXPECT_THAT(refusal({.url = url, .ca_file = token_file_}), HasSubstr(token_file_));
  std::ofstream(token_file_) << "two words of it";
  EXPECT_THAT(refusal({.url = url, .token_file = token_file_}), AllOf(HasSubstr(token_file_), Not(HasSubstr("words"))));
  const Variable token("KRON_TOKEN", "not a token");
  EXPECT_THAT(refusal({.url = url}), AllOf(HasSubstr("$KRON_TOKEN"), Not(HasSubstr("not a token"))));
}

TEST_F(Remote, AFileThatOthersCanReadIsWarnedOf) {
  krond_->on("GET /jobs?limit=100", R"({"jobs":[]})");
  EXPECT_EQ(kron({"jobs"}).err, "");
  ::chmod(token_file_.c_str(), 0640);
  const Ran ran = kron({"jobs"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("warning"), HasSubstr(token_file_), HasSubstr("chmod 600")));
}

TEST_F(Remote, ANoHasItsExitStatus) {
  krond_->on("GET /jobs?limit=100", http::problem(401, "who are you?"));
  krond_->on("POST /jobs/a/trigger", http::problem(403, "this needs the role operate"));
  krond_->on("GET /status", "{}");
  const Ran unknown = kron({"jobs"});
  EXPECT_EQ(unknown.status, 4);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("who are you?"), HasSubstr("kron token list")));
  const Ran without = testing::kron({"jobs", "--url", krond_->url(), "--ca-file", testing::tls_rig().ca_file()});
  EXPECT_EQ(without.status, 4);
  EXPECT_THAT(without.err, HasSubstr("--token-file"));
  const Ran forbidden = kron({"trigger", "a"});
  EXPECT_EQ(forbidden.status, 4);
  EXPECT_THAT(forbidden.err, HasSubstr("needs the role operate"));
  const Ran stranger = testing::kron({"jobs", "--url", krond_->url()});
  EXPECT_EQ(stranger.status, 4);
  EXPECT_THAT(stranger.err, HasSubstr("is not accepted"));
  krond_->stop();
  const Ran gone = kron({"jobs"});
  EXPECT_EQ(gone.status, 3);
  EXPECT_THAT(gone.err, HasSubstr("kron doctor --url"));
}

std::string found(const Findings& findings) {
  std::string all;
  for (const Finding& finding : findings) {
    all += std::string(finding.verdict == Verdict::ok        ? "ok"
                       : finding.verdict == Verdict::warning ? "warning"
                                                             : "problem") +
           " " + finding.about + ": " + finding.what + " => " + finding.cure + "\n";
  }
  return all;
}

class RemoteDoctor : public Remote {
 protected:
  std::string examine(http::Endpoint krond) {
    Findings findings;
    examine_remote(
        krond, [this] { return now; }, findings);
    return found(findings);
  }
  std::string examine() {
    return examine(place({.url = krond_->url(), .token_file = token_file_, .ca_file = testing::tls_rig().ca_file()}));
  }
  void answer(const std::string& members) {
    krond_->on("GET /status?changes=true",
               R"({"version":"1","host":"far","jobs":3,"ready":true,"you":{"name":"token t","role":"operate"})" +
                   members + "}");
  }

  Instant now = *parse_rfc3339("2026-03-01T00:00:00Z");
};

TEST_F(RemoteDoctor, SaysWhoAnswersAndWhatTheTokenMay) {
  answer(R"(,"now":"2026-03-01T00:00:01Z")");
  EXPECT_THAT(examine(), AllOf(HasSubstr("ok url: " + krond_->url() + " answers"), HasSubstr("krond 1 on far, 3 jobs"),
                               HasSubstr("ok token: token t has the role operate"),
                               HasSubstr("ok clock: the clock there is that of this host")));
  krond_->on("GET /status", "{}");
  EXPECT_EQ(kron({"doctor"}).status, 1) << "clocks are months apart";
  EXPECT_THAT(kron({"doctor", "--format", "json"}).out, HasSubstr(R"("about":"clock")"));
}

TEST_F(RemoteDoctor, SeesACertificateThatRunsOut) {
  answer("");
  const Instant expires = testing::tls_rig().server()->expires();
  now = expires - std::chrono::days(13);
  EXPECT_THAT(examine(), AllOf(HasSubstr("warning tls: "), HasSubstr("Kron's tests"), HasSubstr("in 13 days")));
  now = expires - std::chrono::days(40);
  EXPECT_THAT(examine(), AllOf(HasSubstr("ok tls: "), HasSubstr("in 40 days")));
}

TEST_F(RemoteDoctor, SeesClocksThatDiffer) {
  answer(R"(,"now":"2026-03-01T00:00:30Z")");
  EXPECT_THAT(examine(), HasSubstr("warning clock: the clock there is 30s ahead of that of this host"));
  now += Seconds(1000);
  EXPECT_THAT(examine(), HasSubstr("problem clock: the clock there is 16m10s behind that of this host"));
  FakeKrond shifted;
  shifted.on("GET /status?changes=true", R"({"now":"2026-03-01T01:00:00Z","clockOffsetSeconds":3600})");
  now = *parse_rfc3339("2026-03-01T00:00:00Z");
  EXPECT_THAT(examine(shifted.socket()), HasSubstr("ok clock"));
}

TEST_F(RemoteDoctor, SaysWhyItIsNotLetIn) {
  krond_->on("GET /status?changes=true", http::problem(401, "who are you?"));
  EXPECT_THAT(examine(),
              AllOf(HasSubstr("answers"), HasSubstr("problem token: who are you?"), HasSubstr("--token-file")));
  EXPECT_THAT(examine(place({.url = krond_->url()})), AllOf(HasSubstr("problem tls: "), HasSubstr("--ca-file")));
  krond_->stop();
  EXPECT_THAT(examine(), AllOf(HasSubstr("problem url: "), HasSubstr("kron-web.socket")));
}

TEST(PrivateMemory, IsKeptWhereThereIsAToken) {
  const Variable no_token("KRON_TOKEN", nullptr);
  const Variable no_file("KRON_TOKEN_FILE", nullptr);
  const auto leads = [](std::vector<const char*> words) {
    return leads_to_token(static_cast<int>(words.size()), words.data());
  };
  EXPECT_FALSE(leads({"kron", "status", "--url", "https://x"}));
  EXPECT_TRUE(leads({"kron", "status", "--token-file", "f"}));
  EXPECT_TRUE(leads({"kron", "token", "create", "ci", "--role", "read"}));
  EXPECT_TRUE(leads({"kron", "status", "--token-file=f"}));
  {
    const Variable token("KRON_TOKEN", "t");
    EXPECT_TRUE(leads({"kron"}));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    keep_memory_private();
    rlimit core{};
    ::getrlimit(RLIMIT_CORE, &core);
    ::_exit(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && core.rlim_cur == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kron::cli
