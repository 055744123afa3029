#include "kron/daemon/api_service.h"

#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <thread>

#include "kron/base/rfc3339.h"
#include "kron/env/fake/silent_log.h"
#include "kron/env/real_file_system.h"
#include "kron/http/client.h"
#include "kron/http/fake/server_rig.h"
#include "kron/queue/file_queue.h"
#include "kron/scheduler/fake/host.h"
#include "kron/testing/temporary_directory.h"

namespace kron::daemon {
namespace {

// Holds up the history, in the midst of making its index anew, until it is let go.
class HoldingLog : public Log {
 public:
  void write(LogLevel, std::string_view event, std::span<const LogField>) override {
    if (event != "history_rebuilding") return;
    is_held.set_value();
    let_go.get_future().wait_for(testing::kPatience);
  }
  std::promise<void> is_held, let_go;
};

constexpr const char* kRun = "0123456789abcdef";

class ApiServiceTest : public ::testing::Test {
 protected:
  ApiServiceTest() {
    EXPECT_TRUE(host_.start_daemon());
    options_.state_directory = directory_.path();
    options_.socket = directory_.path() + "/krond.sock";
  }

  // A journal that tells of a run, and no index of it.
  void write_history() {
    testing::SilentLog silent;
    const Instant time = *parse_rfc3339("2026-03-01T00:00:00Z");
    auto history = history::History::open(options_.state_directory, options_.keeps, host_.clock, silent).value();
    history->add({.job = "a", .outcome = Outcome::executed, .run_id = kRun, .started_at = time, .ended_at = time});
    history->flush();
    history.reset();
    for (const auto& file : std::filesystem::directory_iterator(directory_.path() + "/history")) {
      if (file.path().filename().string().starts_with("index")) std::filesystem::remove(file);
    }
  }

  std::unique_ptr<ApiService> open() {
    return ApiService::open(options_, {.clock = host_.clock,
                                       .log = log_,
                                       .mailbox = mailbox_,
                                       .scheduler = *host_.scheduler,
                                       .tasks = tasks_,
                                       .events = events_,
                                       .start_priority = start_priority_,
                                       .status = [] { return api::DaemonStatus(); },
                                       .reload = [](const auto& answer) { answer(api::ReloadReport()); },
                                       .state = {}})
        .value();
  }

  testing::TemporaryDirectory directory_;
  testing::Host host_{*parse_rfc3339("2026-03-01T00:00:00Z")};
  Options options_;
  HoldingLog log_;
  Mailbox mailbox_;
  RealFileSystem files_;
  QueueThread tasks_{file_queue_opener(files_, host_.clock, log_, directory_.path() + "/data"), host_.clock, log_,
                     QueueThread::Options{.place = "data"}};
  api::EventHub events_{1};
  StartPriority start_priority_;
};

TEST_F(ApiServiceTest, TheHistoryMayAnswerToTheLast) {
  write_history();
  auto desk = open();
  ASSERT_EQ(log_.is_held.get_future().wait_for(testing::kPatience), std::future_status::ready);
  ASSERT_TRUE(desk->listen());
  http::Client waiting(options_.socket);
  ASSERT_TRUE(waiting.begin("GET", "/api/v1/runs/" + std::string(kRun) + "/output"));
  // Whoever asks later is answered later: by then the history has the question above.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(http::Client(options_.socket).request("GET", "/api/v1/openapi.json").value().status, 200);
  }
  std::thread end([&] { desk.reset(); });
  pollfd hangup{.fd = waiting.descriptor(), .events = 0, .revents = 0};
  EXPECT_EQ(::poll(&hangup, 1, 60'000), 1) << "the server ends first";
  log_.let_go.set_value();  // and hands the answer on, to the thread that reads outputs
  end.join();
}

}  // namespace
}  // namespace kron::daemon
