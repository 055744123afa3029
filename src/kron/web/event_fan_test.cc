#include "kron/web/event_fan.h"

#include <gmock/gmock.h>
#include <mutex>
#include <thread>

#include "kron/base/token_text.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/http/credentials.h"
#include "kron/http/fake/server_rig.h"

namespace kron::web::event_fan_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string token(std::uint8_t number) { return token_text({1, 2, 3, 4, number}, {number}); }
std::string id_of(const std::string& token) { return std::string(*token_id_in(token)); }
std::string event(std::uint64_t id, const std::string& name = "e", const std::string& members = "") {
  return "id: " + std::to_string(id) + "\nevent: " + name + "\ndata: {\"event\":\"" + name + "\"" + members + "}\n\n";
}
std::string revoked(std::uint64_t id, const std::string& token) {
  return event(id, "token_revoked", R"(,"id":")" + id_of(token) + "\"");
}

// A krond with tokens of roles, whose streams the test writes to.
class FakeKrond {
 public:
  struct Opened {
    std::string token;
    std::string target;
    std::string after;
    std::shared_ptr<http::Stream> stream;
  };

  FakeKrond() {
    start([this](const http::Request& request, http::Reply reply) { answer(request, std::move(reply)); });
  }

  void start(http::Server::Handler handler) { server_ = std::make_unique<testing::ServerRig>(std::move(handler)); }
  void stop() const { server_->stop(); }
  std::string socket_path() const { return server_->socket_path(); }

  void let_in(const std::string& token, const std::string& role) {
    const std::scoped_lock lock(mutex_);
    roles_[token] = role;
  }
  // Its streams are for the test to cut.
  void let_out(const std::string& token) {
    const std::scoped_lock lock(mutex_);
    roles_.erase(token);
  }
  void set_last(std::uint64_t id) {
    const std::scoped_lock lock(mutex_);
    last_ = id;
  }

  std::vector<Opened> opened() {
    const std::scoped_lock lock(mutex_);
    return opened_;
  }
  std::size_t questions() {
    const std::scoped_lock lock(mutex_);
    return questions_;
  }
  // The stream that was opened as that many'th, once it is there.
  std::shared_ptr<http::Stream> stream(std::size_t number) {
    const auto patience = std::chrono::steady_clock::now() + testing::kPatience;
    while (opened().size() <= number && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_GT(opened().size(), number);
    return opened().at(number).stream;
  }

 private:
  void answer(const http::Request& request, http::Reply reply) {
    const std::scoped_lock lock(mutex_);
    const std::string shown(http::bearer_of(request).value_or(""));
    const auto role = roles_.find(shown);
    const bool is_question = request.method == "HEAD";
    if (is_question) ++questions_;
    if (role == roles_.end()) return reply.send(http::unauthorized());
    if (request.parameter("after") == "x") return reply.send(http::problem(400, "is no number"));
    http::Response head{.content_type = "text/event-stream", .headers = {{"Last-Event-ID", std::to_string(last_)}}};
    if (is_question) {
      head.headers.emplace_back("Kron-Role", role->second);
      return reply.send(std::move(head));
    }
    const std::string after(request.header("last-event-id").value_or(""));
    opened_.push_back({shown, request.target, after, reply.begin(std::move(head))});
  }

  std::mutex mutex_;
  std::map<std::string, std::string> roles_;
  std::uint64_t last_ = 9;
  std::vector<Opened> opened_;
  std::size_t questions_ = 0;
  std::unique_ptr<testing::ServerRig> server_;
};

class EventFanTest : public ::testing::Test {
 protected:
  EventFanTest() {
    for (std::uint8_t i = 1; i <= 3; ++i) krond_.let_in(token(i), "read");
    krond_.let_in(token(4), "operate");
  }

  testing::RawClient reader(const std::string& shown, const std::string& query = "", const std::string& headers = "") {
    testing::RawClient client(front_);
    client.send(testing::get("/api/v1/events" + query, "Authorization: Bearer " + shown + "\r\n" + headers));
    return client;
  }
  void wait_for_questions(std::size_t count) {
    const auto patience = std::chrono::steady_clock::now() + testing::kPatience;
    while (krond_.questions() < count && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_GE(krond_.questions(), count);
  }

  testing::FakeClock clock_{Instant(Seconds(0))};
  FakeKrond krond_;
  std::unique_ptr<http::Forwarder> forwarder_ = http::Forwarder::start(krond_.socket_path(), {}).value();
  std::shared_ptr<EventFan> fan_ = std::make_shared<EventFan>(*forwarder_, clock_);
  testing::ServerRig front_{[this](http::Request request, http::Reply reply) {
    http::Forwarder::Outgoing outgoing{.method = request.method, .target = request.target};
    for (const auto& field : request.headers) {
      if (field.first == "authorization" || field.first == "cookie" || field.first == "last-event-id") {
        outgoing.headers.push_back(field);
      }
    }
    fan_->add(std::move(outgoing), std::move(reply), {});
  }};
};

TEST_F(EventFanTest, ManyReadersOfARoleAreOneStreamOfKrond) {
  std::vector<testing::RawClient> readers;
  for (std::uint8_t i = 0; i < 40; ++i) readers.push_back(reader(token(i % 3 + 1)));
  const auto source = krond_.stream(0);
  source->write(event(9) + ": krond\n\n");
  for (auto& one : readers) {
    const std::string begun = one.read_until(": krond");
    EXPECT_THAT(begun, HasSubstr("HTTP/1.1 200 "));
    EXPECT_THAT(begun, HasSubstr("Last-Event-ID: 9\r\n"));
    EXPECT_THAT(begun, Not(HasSubstr("id: 9\n"))) << "that was before";
  }
  source->write(event(10));
  for (auto& one : readers) EXPECT_THAT(one.read_until("id: 10\n"), HasSubstr("id: 10\n"));
  source->write(":\n\n");
  for (auto& one : readers) EXPECT_THAT(one.read_until(":\n\n"), HasSubstr(":\n\n")) << "krond lives";
  EXPECT_EQ(krond_.opened().size(), 1U);
  EXPECT_EQ(krond_.opened()[0].after, "0");
  EXPECT_EQ(krond_.questions(), 40U);
}

TEST_F(EventFanTest, RolesAndFormsHaveStreamsOfTheirOwn) {
  auto brief = reader(token(1), "?fields=brief");
  krond_.stream(0)->write(": krond\n\n");
  auto full = reader(token(1));
  krond_.stream(1)->write(": krond\n\n");
  auto other = reader(token(4));
  krond_.stream(2)->write(": krond\n\n");
  for (auto* one : {&brief, &full, &other}) one->read_until(": krond");
  krond_.stream(0)->write(event(10, "brief"));
  krond_.stream(1)->write(event(10, "full"));
  krond_.stream(2)->write(event(10, "other"));
  EXPECT_THAT(brief.read_until("\nevent: "), HasSubstr("event: brief\n"));
  EXPECT_THAT(full.read_until("\nevent: "), HasSubstr("event: full\n"));
  EXPECT_THAT(other.read_until("\nevent: "), HasSubstr("event: other\n"));
  EXPECT_EQ(krond_.opened()[0].target, "/api/v1/events?fields=brief");
  EXPECT_EQ(krond_.opened()[2].token, token(4));
}

TEST_F(EventFanTest, WhoComesBackGetsWhatHeMissed) {
  auto first = reader(token(1));
  krond_.stream(0)->write(event(8) + event(9) + ": krond\n\n");
  first.read_until(": krond");
  auto back = reader(token(2), "", "Last-Event-ID: 8\r\n");
  EXPECT_THAT(back.read_until(": krond"), HasSubstr(event(9)));
  auto by_parameter = reader(token(2), "?after=7");
  EXPECT_THAT(by_parameter.read_until(": krond"), HasSubstr(event(8) + event(9)));
  auto of_before = reader(token(2), "?after=3");
  EXPECT_THAT(of_before.read_until(": krond"), HasSubstr("restarted"));
  EXPECT_EQ(krond_.opened().size(), 1U);
}

TEST_F(EventFanTest, NobodyIsServedBeforeWhatKrondHadIsThere) {
  auto first = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(": krond\n\n");
  first.read_until(": krond");
  krond_.set_last(12);  // and the stream has not brought it yet
  auto second = reader(token(2), "?after=11");
  wait_for_questions(2);
  EXPECT_FALSE(second.waits_for(POLLIN, std::chrono::milliseconds(20)));
  source->write(event(10) + event(11) + event(12));
  const std::string text = second.read_until(": krond");
  EXPECT_THAT(text, HasSubstr(event(12)));
  EXPECT_THAT(text, Not(HasSubstr("id: 11\n")));
  EXPECT_THAT(text, Not(HasSubstr("gap")));
}

TEST_F(EventFanTest, WhoIsNotLetInGetsNothingOfIt) {
  auto stranger = reader(token(9));
  EXPECT_THAT(stranger.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 401 "));
  auto wrong = reader(token(1), "?after=x");
  EXPECT_THAT(wrong.read_until("is no number"), HasSubstr("is no number")) << "krond's own words";
  EXPECT_TRUE(krond_.opened().empty());
}

TEST_F(EventFanTest, ATokenThatIsRevokedEndsItsReadersAtOnceAndNoOthers) {
  auto opener = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(": krond\n\n");
  const std::string of_a_page = "v1.0123456789abcdef." + id_of(token(2)) + ".1.2.ff";
  krond_.let_in(of_a_page, "read");
  auto same = reader(token(2));
  auto session = reader(of_a_page);
  auto other = reader(token(3));
  for (auto* one : {&opener, &same, &session, &other}) one->read_until(": krond");
  const std::size_t before = krond_.questions();
  krond_.let_out(token(2));
  krond_.let_out(of_a_page);
  source->write(revoked(10, token(2)));
  EXPECT_THAT(same.read_to_end(), Not(HasSubstr("0\r\n\r\n"))) << "cut, so that he can tell";
  session.read_to_end();
  source->write(event(11));
  EXPECT_THAT(opener.read_until("id: 11\n"), HasSubstr("id: 11\n"));
  EXPECT_THAT(other.read_until("id: 11\n"), HasSubstr("id: 11\n"));
  EXPECT_EQ(krond_.questions(), before + 2) << "about those who can be meant";
}

TEST_F(EventFanTest, WhenTheTokenThatOpenedItIsRevokedTheOthersMissNothing) {
  auto opener = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(event(9) + ": krond\n\n");
  opener.read_until(": krond");
  auto other = reader(token(2));
  other.read_until(": krond");
  source->write(event(10));
  other.read_until("id: 10\n");
  krond_.let_out(token(1));
  krond_.set_last(12);
  source->cut();  // before the event could come by it
  const auto next = krond_.stream(1);
  EXPECT_EQ(krond_.opened()[1].token, token(2));
  EXPECT_EQ(krond_.opened()[1].after, "10");
  next->write(revoked(11, token(1)) + event(12) + ": krond\n\n");
  const std::string text = other.read_until("id: 12\n");
  EXPECT_THAT(text, HasSubstr("id: 11\n"));
  opener.read_to_end();
}

TEST_F(EventFanTest, SessionsThatEndAreAskedAboutAndWhoStaysReadsOn) {
  auto one = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(": krond\n\n");
  one.read_until(": krond");
  source->write(event(10, "sessions_revoked"));
  wait_for_questions(2);
  source->write(event(11));
  EXPECT_THAT(one.read_until("id: 11\n"), HasSubstr("id: 11\n"));
}

TEST_F(EventFanTest, KrondsWordHoldsForAMinute) {
  auto one = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(": krond\n\n");
  one.read_until(": krond");
  krond_.let_out(token(1));  // its time is over: nothing is told of that
  source->write(":\n\n");
  one.read_until(":\n\n");
  EXPECT_EQ(krond_.questions(), 1U);
  clock_.advance(EventFan::kJudgedFor);
  source->write(":\n\n");
  one.read_to_end();
  EXPECT_EQ(krond_.questions(), 2U);
}

TEST_F(EventFanTest, WhenKrondIsLostSoAreItsReaders) {
  auto one = reader(token(1));
  krond_.stream(0)->write(": krond\n\n");
  one.read_until(": krond");
  krond_.stop();
  EXPECT_THAT(one.read_until("0\r\n\r\n"), HasSubstr("0\r\n\r\n")) << "it has ended in order";
  auto late = reader(token(1));
  EXPECT_THAT(late.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(EventFanTest, AGapEndsAllReadersBecauseARevocationMayBeInIt) {
  auto one = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(": krond\n\n");
  one.read_until(": krond");
  source->write("event: gap\ndata: {\"event\":\"gap\",\"reason\":\"dropped\"}\n\n");
  EXPECT_THAT(one.read_to_end(), Not(HasSubstr("0\r\n\r\n")));
}

TEST_F(EventFanTest, AReaderWhoDoesNotReadIsCutOffAndNobodyWaitsForHim) {
  auto slow = reader(token(1));
  const auto source = krond_.stream(0);
  source->write(": krond\n\n");
  slow.read_until(": krond");
  auto quick = reader(token(2));
  quick.read_until(": krond");
  std::uint64_t id = 10;
  for (; id < 110; ++id) {  // 6 MB: more than sockets and backlog hold
    const std::string last_word = "this was " + std::to_string(id) + ".";
    source->write(event(id, "e", R"(,"text":")" + std::string(60'000, 'x') + last_word + "\""));
    ASSERT_THAT(quick.read_until(last_word), HasSubstr(last_word));
  }
  EXPECT_THAT(slow.read_to_end(), Not(HasSubstr("id: 109\n")));
  source->write(event(id));
  EXPECT_THAT(quick.read_until("id: 110\n"), HasSubstr("id: 110\n"));
}

TEST_F(EventFanTest, TheLastReaderTakesTheStreamAlong) {
  {
    auto one = reader(token(1));
    krond_.stream(0)->write(": krond\n\n");
    one.read_until(": krond");
    EXPECT_GE(forwarder_->under_way(), 1U);
  }
  const auto patience = std::chrono::steady_clock::now() + testing::kPatience;
  while (forwarder_->under_way() != 0 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  EXPECT_EQ(forwarder_->under_way(), 0U);
}

}  // namespace
}  // namespace kron::web::event_fan_test
