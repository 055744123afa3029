#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/api/fake/api_rig.h"

// What operators ask over the API while the disk is slow: each is answered when his record is durable, and all others
// meanwhile.
namespace kron::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Seconds kOperatorPatience(60);  // only a test that fails waits for it

class SlowDiskTest : public ApiRig {
 protected:
  using Answer = std::future<http::Response>;

  SlowDiskTest() {
    do_on_loop([this] {
      writer_.holds = true;
      host_.outside.on_written = [this] {
        if (loop_) loop_->post([this] { (void)host_.scheduler->tick(); });
      };
    });
  }
  ~SlowDiskTest() override {
    // Who still asks is answered, or he would never end.
    do_on_loop([this] {
      writer_.holds = false;
      host_.scheduler->settle_requests();
    });
  }

  // Asks, and does not wait for the answer.
  Answer ask_beside(const std::string& path, const http::Fields& headers = {}) {
    std::packaged_task<http::Response()> asking(
        [this, path, headers] { return ask("POST", "/api/v1/jobs/" + path, "", headers); });
    Answer answer = asking.get_future();
    askers_.emplace_back(std::move(asking));
    return answer;
  }
  // The same, and the loop has heard it: its record is on its way.
  Answer ask_first(const std::string& path, const http::Fields& headers = {}) {
    Answer answer = ask_beside(path, headers);
    EXPECT_TRUE(comes([this] { return writer_.has_work(); }));
    return answer;
  }
  // Until it is so on the loop; false after a while.
  bool comes(const std::function<bool()>& is_so) {
    const auto give_up = std::chrono::steady_clock::now() + kOperatorPatience;
    bool is_it = false;
    while (!is_it && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
      do_on_loop([&] { is_it = is_so(); });
    }
    return is_it;
  }
  static bool is_answered(Answer& answer) { return answer.wait_for(Seconds(0)) == std::future_status::ready; }
  // The disk goes on, one write.
  void write_it() {
    do_on_loop([this] { writer_.finish(); });
  }
  std::size_t executed() {
    std::size_t count = 0;
    do_on_loop([&] { count = host_.runner.executed().size(); });
    return count;
  }

 private:
  std::vector<std::jthread> askers_;
};

TEST_F(SlowDiskTest, ATriggerIsAnsweredWhenItsRecordIsDurableAndOthersMeanwhile) {
  Answer answer = ask_first("c/trigger");
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_THAT(ask("GET", "/api/v1/jobs/c").body, HasSubstr(R"("running":0)")) << "what is shown is durable";
  EXPECT_EQ(ask("GET", "/api/v1/jobs").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/runs/nobody/terminate").status, 404);
  EXPECT_FALSE(is_answered(answer));
  EXPECT_EQ(executed(), 0U);
  write_it();
  const http::Response started = answer.get();
  EXPECT_EQ(started.status, 200);
  EXPECT_THAT(started.body, HasSubstr(R"("outcome":"started")"));
  EXPECT_EQ(executed(), 1U);
}

TEST_F(SlowDiskTest, APauseIsAnsweredWithWhatIsDurable) {
  Answer paused = ask_first("c/pause");
  EXPECT_THAT(ask("GET", "/api/v1/jobs/c").body, HasSubstr(R"("paused":null)")) << "nobody was promised anything yet";
  EXPECT_FALSE(is_answered(paused));
  write_it();
  EXPECT_THAT(paused.get().body, AllOf(HasSubstr(R"("identity":"c")"), HasSubstr(R"("paused":{)")));
  EXPECT_THAT(ask("GET", "/api/v1/jobs/c").body, HasSubstr(R"("paused":{)"));
  Answer resumed = ask_first("c/resume");
  EXPECT_FALSE(is_answered(resumed));
  write_it();
  EXPECT_THAT(resumed.get().body, HasSubstr(R"("paused":null)"));
}

TEST_F(SlowDiskTest, OneKeyAskedTwiceAtATimeIsOneRun) {
  Answer first = ask_first("c/trigger", {{"Idempotency-Key", "k"}});
  Answer second = ask_beside("c/trigger", {{"Idempotency-Key", "k"}});
  ASSERT_TRUE(comes([&] {
    writer_.finish();
    return is_answered(first) && is_answered(second);
  }));
  const std::string both = first.get().body + second.get().body;
  EXPECT_THAT(both, AllOf(HasSubstr(R"("outcome":"started")"), HasSubstr(R"("outcome":"already_known")")));
  EXPECT_EQ(executed(), 1U);
}

TEST_F(SlowDiskTest, ARefusedRecordIsAnErrorAndNothingRan) {
  Answer answer = ask_first("c/trigger");
  do_on_loop([this] {
    host_.file_system->fail_when([](const testing::CallRecord& call) {
      const bool grows = call.call == testing::Call::create || call.call == testing::Call::write;
      return grows ? testing::Fault::no_space : testing::Fault::none;
    });
    writer_.finish();
  });
  const http::Response refused = answer.get();
  EXPECT_GE(refused.status, 500);
  EXPECT_THAT(refused.body, HasSubstr("could not be recorded, so it was not run"));
  EXPECT_EQ(executed(), 0U);
}

TEST_F(SlowDiskTest, AnEndAnswersThoseWhoWait) {
  Answer on_its_way = ask_first("c/trigger");
  const int before = loop_->items();
  Answer waits = ask_beside("d/trigger");
  ASSERT_TRUE(comes([&] { return loop_->items() > before; })) << "the loop has heard it";
  do_on_loop([this] { host_.scheduler->stop_starting(); });
  EXPECT_EQ(on_its_way.get().status, 200);
  EXPECT_EQ(waits.get().status, 409) << "nothing is started any more";
  EXPECT_EQ(executed(), 1U);
}

}  // namespace
}  // namespace kron::api
