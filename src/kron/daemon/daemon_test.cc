#include "kron/daemon/daemon.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

#include "kron/http/client.h"
#include "kron/http/fake/server_rig.h"
#include "kron/json/document.h"
#include "kron/testing/temporary_directory.h"

// A whole krond in a thread of the test: how it starts, what keeps it from it, what it says of itself, how it ends. No
// job of it is ever due, so its helper is never used.
namespace kron::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kYearly[] = "0 0 1 1 * name=yearly command=true\n";
constexpr char kOther[] = "0 0 2 1 * name=other command=true\n";

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    std::filesystem::create_directories(directory_.file("jobs"));
    write("a.kron", kYearly);
    options_.config = {directory_.file("jobs")};
    options_.state_directory = directory_.file("state");
    options_.socket = directory_.file("krond.sock");
    options_.helper = "/bin/true";
    options_.log_format = LogFormat::json;
  }
  ~DaemonTest() override {
    if (thread_.joinable()) (void)stop();
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.file("jobs/" + name)) << text;
  }

  // Opens and runs it to its end, here.
  Status run_to_its_end() {
    const RealClock clock(options_.clock_offset);
    const Descriptor file = log_file();
    LineLog log(file.get(), clock, options_.log_format, options_.log_level);
    auto daemon = Daemon::open(options_, clock, log);
    if (!daemon) return fail(daemon.error());
    const Status ended = (*daemon)->run();
    log.finish();
    return ended;
  }

  // The same beside the test, which goes on when krond is ready.
  void start() {
    thread_ = std::thread([this] { ended_.set_value(run_to_its_end()); });
    const auto give_up = std::chrono::steady_clock::now() + testing::kPatience;
    while (ask("GET", "/readyz").status != 200 && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(ask("GET", "/readyz").status, 200) << logged();
  }
  void send(int signal) { ::pthread_kill(thread_.native_handle(), signal); }
  Status stop() {
    send(SIGTERM);
    thread_.join();
    return ended_.get_future().get();
  }

  http::Response ask(std::string_view method, std::string_view path, std::string body = {}) const {
    const auto answer = http::Client(options_.socket).request(method, path, std::move(body));
    return answer ? *answer : http::Response{.status = 0};
  }
  Node status() const { return parse_json(ask("GET", "/api/v1/status").body).value(); }
  std::vector<std::string> jobs() const {
    std::vector<std::string> names;
    const Node page = parse_json(ask("GET", "/api/v1/jobs").body).value();
    for (const Node& job : *page.find("jobs")->as<Node::List>()) {
      names.push_back(*job.find("identity")->as<std::string>());
    }
    std::ranges::sort(names);
    return names;
  }

  Descriptor log_file() const {
    return Descriptor(::open(directory_.file("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }
  std::string logged() const {
    std::ifstream file(directory_.file("log"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has_stop_note() const {
    for (const auto& entry : std::filesystem::directory_iterator(options_.state_directory)) {
      if (entry.path().filename().string().find("stop") != std::string::npos) return true;
    }
    return false;
  }

  testing::TemporaryDirectory directory_;
  Options options_;
  std::promise<Status> ended_;
  std::thread thread_;
};

TEST_F(DaemonTest, OnceWithNothingDueEndsAtOnce) {
  options_.once = true;
  const Status ended = run_to_its_end();
  EXPECT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(logged(), AllOf(HasSubstr("daemon_started"), HasSubstr("daemon_ended")));
  EXPECT_FALSE(std::filesystem::exists(options_.socket)) << "nobody is let in";
}

TEST_F(DaemonTest, JobFilesThatAreNotThereKeepItFromStarting) {
  options_.config = {directory_.file("nowhere")};
  const Status ended = run_to_its_end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::unreadable);
  EXPECT_THAT(ended.error().message, AllOf(HasSubstr("nowhere"), HasSubstr("--config")));
  EXPECT_FALSE(std::filesystem::exists(options_.socket)) << "looked for before anybody is let in";
  options_.config = {directory_.file("jobs")};
  options_.once = true;
  EXPECT_TRUE(run_to_its_end()) << "and the state directory is free again";
}

TEST_F(DaemonTest, AHelperThatIsNotThereKeepsItFromStarting) {
  options_.helper = directory_.file("no-helper");
  const Status ended = run_to_its_end();
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().message, HasSubstr("no-helper"));
}

TEST_F(DaemonTest, AStateDirectoryThatAnybodyCanReplaceIsRefused) {
  std::filesystem::create_directories(directory_.file("open"));
  std::filesystem::permissions(directory_.file("open"), std::filesystem::perms::all);
  options_.state_directory = directory_.file("open/state");
  const Status ended = run_to_its_end();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::refused);
  EXPECT_FALSE(std::filesystem::exists(options_.state_directory)) << "nothing was made";
}

TEST_F(DaemonTest, TwoDoNotShareAStateDirectory) {
  start();
  const RealClock clock;
  const Descriptor file = log_file();
  LineLog log(file.get(), clock, LogFormat::json, LogLevel::info);
  const auto second = Daemon::open(options_, clock, log);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(ask("GET", "/readyz").status, 200) << "the first one is not disturbed";
}

TEST_F(DaemonTest, ASocketThatCannotBeMadeKeepsItFromStartingAndTheNextOneStarts) {
  options_.socket = directory_.file(std::string(200, 's'));
  EXPECT_FALSE(run_to_its_end()) << "longer than a socket's name may be";
  options_.socket = directory_.file("krond.sock");
  start();
}

TEST_F(DaemonTest, WithoutASocketNobodyIsLetIn) {
  options_.socket = "";
  options_.once = true;
  EXPECT_TRUE(run_to_its_end());
}

TEST_F(DaemonTest, SaysWhatItKnowsOfItself) {
  start();
  const Node now = status();
  EXPECT_TRUE(*now.find("ready")->as<bool>());
  EXPECT_FALSE(*now.find("stopping")->as<bool>());
  EXPECT_EQ(*now.find("jobs")->as<std::int64_t>(), 1);
  EXPECT_EQ(*now.find("running")->as<std::int64_t>(), 0);
  EXPECT_EQ(*now.find("stateDirectory")->as<std::string>(), options_.state_directory);
  EXPECT_EQ(*now.find("socket")->as<std::string>(), options_.socket);
  EXPECT_EQ(*now.find("config")->as<Node::List>()->front().as<std::string>(), options_.config.front());
  EXPECT_THAT(*now.find("nextDue")->as<std::string>(), HasSubstr("-01-01T"));
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(DaemonTest, EndsWhenItIsToldAndLeavesANoteForTheNextOne) {
  start();
  EXPECT_FALSE(has_stop_note());
  const Status ended = stop();
  EXPECT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(logged(), AllOf(HasSubstr("daemon_stopping"), HasSubstr("\"TERM\""), HasSubstr("daemon_ended")));
  EXPECT_TRUE(has_stop_note());
  options_.once = true;
  EXPECT_TRUE(run_to_its_end());
  EXPECT_EQ(logged().find("stop_note_failed"), std::string::npos);
}

TEST_F(DaemonTest, OneThatStartsTakesTheNoteAway) {
  start();
  ASSERT_TRUE(stop());
  ASSERT_TRUE(has_stop_note());
  ended_ = {};
  start();
  EXPECT_FALSE(has_stop_note()) << "should it die now, it was no planned restart";
}

TEST_F(DaemonTest, AnEndWaitsForRunsUnlessItIsToldTwiceAndWithNoneItDoesNot) {
  options_.on_stop = OnStop::wait;
  start();
  EXPECT_TRUE(stop()) << "there is nothing to wait for";
}

TEST_F(DaemonTest, AReloadTakesWhatIsNewAndKeepsWhatABadFileHadBefore) {
  start();
  write("b.kron", kOther);
  EXPECT_EQ(ask("POST", "/api/v1/reload").status, 200);
  EXPECT_THAT(jobs(), ElementsAre("other", "yearly"));
  write("b.kron", "nonsense\n");
  const auto reloaded = ask("POST", "/api/v1/reload");
  EXPECT_EQ(reloaded.status, 200);
  EXPECT_THAT(reloaded.body, AllOf(HasSubstr("b.kron"), HasSubstr(R"("severity":"error")"), HasSubstr("keptFiles")));
  EXPECT_THAT(jobs(), ElementsAre("other", "yearly")) << "its earlier jobs";
  EXPECT_THAT(ask("GET", "/api/v1/status").body, HasSubstr(R"("inForce":"earlier")"));
  EXPECT_THAT(logged(), HasSubstr("job_file_refused"));
  std::filesystem::remove(directory_.file("jobs/b.kron"));
  EXPECT_EQ(ask("POST", "/api/v1/reload").status, 200);
  EXPECT_THAT(jobs(), ElementsAre("yearly"));
}

TEST_F(DaemonTest, ABadFileAtTheStartIsToldAndTheRestRuns) {
  write("bad.kron", std::string("nonsense\n") + kOther);
  start();
  EXPECT_THAT(jobs(), ElementsAre("other", "yearly")) << "what is in order of it too: there is nothing earlier";
  EXPECT_THAT(ask("GET", "/api/v1/status").body, HasSubstr(R"("inForce":"rest")"));
  EXPECT_THAT(logged(), HasSubstr("job_file_problem"));
}

TEST_F(DaemonTest, ADirectoryWithoutJobsIsNoReasonToEnd) {
  std::filesystem::remove(directory_.file("jobs/a.kron"));
  options_.once = true;
  EXPECT_TRUE(run_to_its_end());
  EXPECT_THAT(logged(), HasSubstr("no_jobs"));
}

TEST_F(DaemonTest, AHangupReadsTheFilesAgain) {
  start();
  write("b.kron", kOther);
  send(SIGHUP);
  const auto give_up = std::chrono::steady_clock::now() + testing::kPatience;
  while (jobs().size() < 2 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(jobs(), ElementsAre("other", "yearly"));
}

TEST_F(DaemonTest, AJobIsPausedAndResumedAndThatSurvivesARestart) {
  start();
  EXPECT_EQ(ask("POST", "/api/v1/jobs/yearly/pause").status, 200);
  ASSERT_TRUE(stop());
  ended_ = {};
  start();
  EXPECT_THAT(ask("GET", "/api/v1/jobs?state=paused").body, HasSubstr("yearly"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/yearly/resume").status, 200);
  EXPECT_THAT(ask("GET", "/api/v1/jobs?state=paused").body, Not(HasSubstr("yearly")));
}

TEST_F(DaemonTest, ManyWhoPauseAndResumeAtATimeAreAllAnsweredAlsoThoseWhomItsEndMeets) {
  write("b.kron", kOther);
  start();
  std::atomic<int> done = 0;
  std::atomic<int> otherwise = 0;
  std::atomic<bool> goes_on = true;
  std::vector<std::thread> operators;
  for (const char* job : {"yearly", "other", "yearly"}) {
    operators.emplace_back([&, job] {
      const std::string path = std::string("/api/v1/jobs/") + job;
      for (int i = 0; goes_on; ++i) {
        const auto answer =
            http::Client(options_.socket).request("POST", path + (i % 2 == 0 ? "/pause" : "/resume"), "");
        if (!answer) return;  // it has ended
        ++(answer->status == 200 ? done : otherwise);
      }
    });
  }
  const auto give_up = std::chrono::steady_clock::now() + testing::kPatience;
  while (done < 60 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
  EXPECT_TRUE(stop());
  goes_on = false;
  for (std::thread& one : operators) one.join();
  EXPECT_GE(done, 60);
  EXPECT_EQ(otherwise, 0);
}

TEST_F(DaemonTest, WhatIsNoLongerConfiguredCanBePruned) {
  write("b.kron", kOther);
  start();
  EXPECT_EQ(ask("POST", "/api/v1/jobs/other/pause").status, 200) << "so that it has a record";
  std::filesystem::remove(directory_.file("jobs/b.kron"));
  EXPECT_EQ(ask("POST", "/api/v1/reload").status, 200);
  EXPECT_THAT(ask("POST", "/api/v1/state/prune", R"({"dryRun":true})").body, HasSubstr("other"));
  EXPECT_THAT(ask("POST", "/api/v1/state/prune").body, AllOf(HasSubstr("other"), Not(HasSubstr("yearly"))));
  EXPECT_EQ(ask("GET", "/api/v1/state/other").status, 404);
}

// A service manager of the test's own.
class Notified : public DaemonTest {
 protected:
  Notified() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory_.file("notify");
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Notified() override { ::unsetenv("NOTIFY_SOCKET"); }

  // The words that tell of its life, in the order in which they came.
  std::vector<std::string> heard() const {
    std::vector<std::string> words;
    char bytes[512];
    for (ssize_t size = 0; (size = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
      const std::string message(bytes, static_cast<std::size_t>(size));
      for (const char* word : {"READY=1", "RELOADING=1", "STOPPING=1"}) {
        if (message.find(word) != std::string::npos) words.emplace_back(word);
      }
    }
    return words;
  }

  Descriptor socket_;
};

TEST_F(Notified, IsToldOfEachStepInOrder) {
  start();
  EXPECT_EQ(ask("POST", "/api/v1/reload").status, 200);
  ASSERT_TRUE(stop());
  EXPECT_THAT(heard(), ElementsAre("READY=1", "RELOADING=1", "READY=1", "STOPPING=1"));
}

TEST_F(Notified, IsNotToldThatOneIsReadyThatIsNot) {
  options_.config = {directory_.file("nowhere")};
  EXPECT_FALSE(run_to_its_end());
  EXPECT_THAT(heard(), ElementsAre());
}

}  // namespace
}  // namespace kron::daemon
