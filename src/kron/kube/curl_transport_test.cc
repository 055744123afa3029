#include "kron/kube/curl_transport.h"

#include <atomic>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <latch>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/resource.h>
#include <vector>

#include "kron/env/deadline.h"
#include "kron/env/descriptor.h"
#include "kron/env/fake/fake_clock.h"
#include "kron/kube/fake/http_peer.h"

namespace kron::kube {
namespace {

using testing::Authority;
using testing::HttpPeer;
using Talk = HttpPeer::Talk;

// Longer than anything takes on a busy machine; only a test that fails waits for it.
constexpr Seconds kLongest{60};

// Timeouts that only a test of timeouts shortens.
CurlTransport::Options patient() {
  return {.connect_timeout = kLongest, .call_timeout = kLongest, .list_timeout = kLongest};
}

struct Client {
  testing::FakeClock clock{instant_of(1'795'000'000)};  // for the age of credentials; timeouts are real
  Mailbox mailbox;
  std::map<std::string, std::string> files;
  std::unique_ptr<CurlTransport> transport;

  explicit Client(Connection connection, const CurlTransport::Options& options = patient()) {
    Credentials credentials(std::move(connection), [this](const std::string& path) -> Result<std::string> {
      if (!files.contains(path)) return fail(Code::not_found, "no " + path);
      return files[path];
    });
    transport = CurlTransport::start(std::move(credentials), clock, mailbox, options).value();
  }

  // Works off the mailbox until it is so.
  bool until(const std::function<bool()>& is_so) {
    const Deadline deadline = deadline_after(kLongest);
    while (!is_so()) {
      if (time_left(deadline) == Nanoseconds(0)) return false;
      pollfd waited{.fd = mailbox.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&waited, 1, milliseconds_left(deadline));
      mailbox.work_off(Seconds(1));
    }
    return true;
  }

  Outcome ask(Request request, Lane lane = Lane::call) {
    std::optional<Outcome> got;
    transport->send(std::move(request), lane, [&](Outcome outcome) { got = std::move(outcome); });
    EXPECT_TRUE(until([&] { return got.has_value(); }));
    return got.value_or(Broken{.message = "nothing came"});
  }
};

Connection to(const HttpPeer& peer) {
  Connection connection;
  connection.server = peer.url();
  return connection;
}

Response response_in(const Outcome& outcome) {
  if (const auto* response = std::get_if<Response>(&outcome)) return *response;
  ADD_FAILURE() << std::get<Broken>(outcome).message;
  return {};
}

Failure failure_in(const Outcome& outcome) {
  if (const auto* broken = std::get_if<Broken>(&outcome)) return broken->failure;
  ADD_FAILURE() << "answered " << std::get<Response>(outcome).code;
  return {};
}

std::string chunk(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string size;
  for (std::size_t left = bytes.size(); left > 0; left /= 16) size.insert(size.begin(), kDigits[left % 16]);
  return (size.empty() ? "0" : size) + "\r\n" + std::string(bytes) + "\r\n";
}

const std::string kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST(CurlTransport, ThatHasNoDescriptorForItsPlugInIsRefusedAtTheStart) {
  Connection connection;
  connection.server = "https://a";
  connection.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1", .command = "plug-in"};
  Credentials credentials(connection, [](const std::string& path) { return fail(Code::not_found, path); });
  testing::FakeClock clock{instant_of(1'795'000'000)};
  Mailbox mailbox;
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const Descriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const rlimit none_left{static_cast<rlim_t>(next.get()) + 1, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const auto refused = CurlTransport::start(std::move(credentials), clock, mailbox, patient());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the exec plug-in"), std::string::npos) << refused.error().message;
}

TEST(CurlTransport, SendsARequestAsItIsAndGivesTheAnswer) {
  std::mutex mutex;
  std::vector<std::string> heads;
  std::vector<std::string> bodies;
  HttpPeer peer([&](Talk& talk, const std::string& head, const std::string& body) {
    {
      const std::scoped_lock lock(mutex);
      heads.push_back(head);
      bodies.push_back(body);
    }
    talk.answer(201, R"({"a":1})", "Retry-After: 7\r\nDate: Tue, 17 Nov 2026 10:00:00 GMT\r\n");
  });
  Connection connection = to(peer);
  connection.token.text = "tok";
  Client client(connection);
  const Response response = response_in(client.ask({Verb::create, "/apis/x", "dryRun=All", R"({"b":2})"}));
  EXPECT_EQ(response.code, 201);
  EXPECT_EQ(response.body, R"({"a":1})");
  EXPECT_EQ(response.retry_after, Seconds(7));
  EXPECT_EQ(response.date, instant_of(1'794'909'600));
  for (const Verb verb : {Verb::get, Verb::update, Verb::patch, Verb::remove}) {
    response_in(client.ask({verb, "/y", "", verb == Verb::get ? "" : "[]"}));
  }
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(heads.size(), 5U);
  EXPECT_TRUE(heads[0].starts_with("POST /apis/x?dryRun=All HTTP/1.1\r\n")) << heads[0];
  EXPECT_NE(heads[0].find("Authorization: Bearer tok\r\n"), std::string::npos);
  EXPECT_NE(heads[0].find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_EQ(heads[0].find("Expect"), std::string::npos);
  EXPECT_EQ(bodies[0], R"({"b":2})");
  EXPECT_TRUE(heads[1].starts_with("GET /y HTTP/1.1\r\n")) << heads[1];
  EXPECT_TRUE(heads[2].starts_with("PUT /y ")) << heads[2];
  EXPECT_TRUE(heads[3].starts_with("PATCH /y ")) << heads[3];
  EXPECT_NE(heads[3].find("Content-Type: application/json-patch+json\r\n"), std::string::npos);
  EXPECT_TRUE(heads[4].starts_with("DELETE /y ")) << heads[4];
  EXPECT_EQ(bodies[4], "[]");
  EXPECT_EQ(peer.connections(), 1);  // it is kept
}

TEST(CurlTransport, SaysNotSentWhenNobodyListens) {
  HttpPeer peer([](Talk&, const std::string&, const std::string&) {});
  Connection connection = to(peer);
  peer.stop_listening();
  Client client(connection);
  EXPECT_EQ(failure_in(client.ask({Verb::create, "/x", "", "{}"})), Failure::not_sent);
}

TEST(CurlTransport, SaysUnknownWhenTheAnswerIsLost) {
  std::atomic<int> done = 0;
  HttpPeer peer([&](Talk& talk, const std::string& head, const std::string&) {
    ++done;
    if (head.find("/half") != std::string::npos) talk.say("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{");
    if (head.find("/reset") != std::string::npos) return talk.reset();
    talk.close();
  });
  for (const char* path : {"/nothing", "/half", "/reset"}) {
    Client client(to(peer));
    EXPECT_EQ(failure_in(client.ask({Verb::create, path, "", "{}"})), Failure::unknown) << path;
  }
  EXPECT_EQ(done.load(), 3);
}

TEST(CurlTransport, SaysUnknownWhenTheAnswerTakesTooLong) {
  std::atomic<bool> is_asked = false;
  HttpPeer peer([&](Talk& talk, const std::string&, const std::string&) {
    is_asked = true;
    talk.wait_until_gone();
  });
  auto options = patient();
  options.call_timeout = std::chrono::milliseconds(300);
  Client client(to(peer), options);
  // On a busy machine the time may be over before the server has heard anything: then it is not about this.
  int unknown = 0;
  for (int i = 0; i < 100 && !is_asked; ++i) {
    unknown += failure_in(client.ask({Verb::create, "/x", "", "{}"})) == Failure::unknown ? 1 : 0;
  }
  EXPECT_TRUE(is_asked);
  EXPECT_GT(unknown, 0);
}

TEST(CurlTransport, SaysNotSentWhenTheConnectionTakesTooLong) {
  // TLS that is never answered: the request has no way out yet.
  HttpPeer peer([](Talk&, const std::string&, const std::string&) {});  // waits for HTTP, and gets a greeting
  Connection connection = to(peer);
  connection.server = "https://127.0.0.1:" + std::to_string(peer.port());
  auto options = patient();
  options.connect_timeout = std::chrono::milliseconds(300);
  Client client(connection, options);
  EXPECT_EQ(failure_in(client.ask({Verb::create, "/x", "", "{}"})), Failure::not_sent);
}

TEST(CurlTransport, RefusesAnAnswerBeyondTheLimit) {
  HttpPeer peer([](Talk& talk, const std::string&, const std::string&) { talk.answer(200, std::string(5'000, 'x')); });
  auto options = patient();
  options.most_bytes = 4'999;
  options.most_list_bytes = 5'000;
  Client client(to(peer), options);
  EXPECT_EQ(failure_in(client.ask({Verb::get, "/x"})), Failure::unknown);
  EXPECT_EQ(response_in(client.ask({Verb::get, "/x"}, Lane::list)).body.size(), 5'000U);
}

TEST(CurlTransport, FollowsNoRedirection) {
  HttpPeer peer(
      [](Talk& talk, const std::string&, const std::string&) { talk.answer(302, "", "Location: /elsewhere\r\n"); });
  Client client(to(peer));
  EXPECT_EQ(response_in(client.ask({Verb::get, "/x"})).code, 302);
}

TEST(CurlTransport, TellsAWatchAsItComes) {
  std::atomic<bool> is_first_seen = false;
  HttpPeer peer([&](Talk& talk, const std::string&, const std::string&) {
    talk.say(kChunked + chunk("{\"a\":1}\n"));
    is_first_seen.wait(false);  // the client has it, though the answer has no end yet
    talk.say(chunk("{\"b\"") + chunk(":2}\n") + chunk(""));
  });
  Client client(to(peer));
  std::string bytes;
  std::optional<Outcome> end;
  client.transport->open(
      {Verb::get, "/x", "watch=1"}, [&](std::string_view part) { bytes += part; },
      [&](Outcome outcome) { end = std::move(outcome); });
  EXPECT_TRUE(client.until([&] { return bytes == "{\"a\":1}\n"; }));
  EXPECT_FALSE(end);
  is_first_seen = true;
  is_first_seen.notify_all();
  EXPECT_TRUE(client.until([&] { return end.has_value(); }));
  EXPECT_EQ(bytes, "{\"a\":1}\n{\"b\":2}\n");
  EXPECT_EQ(response_in(*end).code, 200);
  EXPECT_EQ(response_in(*end).body, "");
}

TEST(CurlTransport, TellsAWatchThatIsRefusedFromOneThatIsCut) {
  HttpPeer peer([](Talk& talk, const std::string& head, const std::string&) {
    if (head.find("/old") != std::string::npos) return static_cast<void>(talk.answer(410, R"({"code":410})"));
    talk.say(kChunked + chunk("{}\n") + "5\r\n{\"a");
    talk.close();
  });
  Client client(to(peer));
  for (const std::string path : {"/old", "/cut"}) {
    std::string bytes;
    std::optional<Outcome> end;
    client.transport->open(
        {Verb::get, path}, [&](std::string_view part) { bytes += part; },
        [&](Outcome outcome) { end = std::move(outcome); });
    ASSERT_TRUE(client.until([&] { return end.has_value(); }));
    if (path == "/old") {
      EXPECT_EQ(response_in(*end).body, R"({"code":410})");
      EXPECT_EQ(bytes, "");
    } else {
      EXPECT_EQ(failure_in(*end), Failure::unknown);
      EXPECT_EQ(bytes, "{}\n{\"a");
    }
  }
}

TEST(CurlTransport, LetsAWatchWaitForALoopThatIsBusyAndLosesNothing) {
  constexpr int kParts = 400;
  const std::string part(10'000, 'x');
  HttpPeer peer([&](Talk& talk, const std::string&, const std::string&) {
    talk.say(kChunked);
    for (int i = 0; i < kParts; ++i) talk.say(chunk(part));
    talk.say(chunk(""));
  });
  auto options = patient();
  options.most_unread = 50'000;
  Client client(to(peer), options);
  std::size_t bytes = 0;
  std::optional<Outcome> end;
  client.transport->open(
      {Verb::get, "/x"}, [&](std::string_view some) { bytes += some.size(); },
      [&](Outcome outcome) { end = std::move(outcome); });
  EXPECT_TRUE(client.until([&] { return end.has_value(); }));
  EXPECT_EQ(bytes, kParts * part.size());
}

TEST(CurlTransport, LetsTheLeaseAndWatchesPassWhileCallsWait) {
  std::latch is_let(1);
  std::atomic<int> calls = 0;
  HttpPeer peer([&](Talk& talk, const std::string& head, const std::string&) {
    if (head.find("/call") != std::string::npos) {
      ++calls;
      is_let.wait();
    }
    talk.answer(200, "{}");
  });
  auto options = patient();
  options.calls = 2;
  Client client(to(peer), options);
  int ended = 0;
  for (int i = 0; i < 5; ++i) {
    client.transport->send({Verb::get, "/call"}, Lane::call, [&](const Outcome&) { ++ended; });
  }
  EXPECT_EQ(response_in(client.ask({Verb::get, "/lease"}, Lane::lease)).code, 200);
  EXPECT_LE(calls.load(), 2);
  EXPECT_EQ(ended, 0);
  is_let.count_down();
  EXPECT_TRUE(client.until([&] { return ended == 5; }));
}

TEST(CurlTransport, SaysNothingOfWhatIsCancelled) {
  std::latch is_let(1);
  HttpPeer peer([&](Talk& talk, const std::string& head, const std::string&) {
    if (head.find("/slow") != std::string::npos) is_let.wait();
    talk.answer(200, "{}");
  });
  Client client(to(peer));
  bool is_told = false;
  const auto id = client.transport->send({Verb::get, "/slow"}, Lane::call, [&](const Outcome&) { is_told = true; });
  client.transport->cancel(id);
  client.transport->cancel(id);
  is_let.count_down();
  EXPECT_EQ(response_in(client.ask({Verb::get, "/other"})).code, 200);
  EXPECT_FALSE(is_told);
}

TEST(CurlTransport, GoesWhileRequestsAreUnderWay) {
  std::latch is_asked(1);
  HttpPeer peer([&](Talk& talk, const std::string&, const std::string&) {
    is_asked.count_down();
    talk.wait_until_gone();
  });
  Client client(to(peer));
  client.transport->send({Verb::get, "/x"}, Lane::call, [](const Outcome&) { ADD_FAILURE() << "told after the end"; });
  is_asked.wait();
  client.transport.reset();
  client.mailbox.work_off(Seconds(1));
}

TEST(CurlTransport, ReadsItsTokenAgainWhenItIsRefused) {
  HttpPeer peer([](Talk& talk, const std::string& head, const std::string&) {
    talk.answer(head.find("Bearer two") != std::string::npos ? 200 : 401, "{}");
  });
  Connection connection = to(peer);
  connection.token.file = "/token";
  Client client(connection);
  EXPECT_EQ(failure_in(client.ask({Verb::get, "/x"})), Failure::not_sent);  // there is none yet
  client.files["/token"] = "one";
  EXPECT_EQ(response_in(client.ask({Verb::get, "/x"})).code, 401);
  client.files["/token"] = "two";
  client.clock.advance(Seconds(1));
  EXPECT_EQ(response_in(client.ask({Verb::get, "/x"})).code, 200);
}

class TlsTest : public ::testing::Test {
 protected:
  static void hello(Talk& talk, const std::string&, const std::string&) { talk.answer(200, "{}"); }

  Authority authority{"the cluster"};
  Authority other{"another"};
};

TEST_F(TlsTest, TheClustersAuthorityVouchesForTheServer) {
  HttpPeer peer(hello, HttpPeer::Tls{authority.issue("server", "IP:127.0.0.1")});
  Connection connection = to(peer);
  connection.authority.text = authority.certificate();
  EXPECT_EQ(response_in(Client(connection).ask({Verb::get, "/x"})).code, 200);
}

TEST_F(TlsTest, AServerOfAnotherAuthorityGetsNothing) {
  std::atomic<int> asked = 0;
  HttpPeer peer([&](Talk& talk, const std::string&, const std::string&) { asked += 1, talk.answer(200, "{}"); },
                HttpPeer::Tls{other.issue("server", "IP:127.0.0.1")});
  Connection connection = to(peer);
  connection.token.text = "secret";
  EXPECT_EQ(failure_in(Client(connection).ask({Verb::get, "/x"})), Failure::not_sent);  // the machine does not know it
  connection.authority.text = authority.certificate();
  const Outcome refused = Client(connection).ask({Verb::create, "/x", "", "{}"});
  EXPECT_EQ(failure_in(refused), Failure::not_sent);
  EXPECT_EQ(asked.load(), 0);
  connection.authority.text.clear();
  connection.is_unverified = true;
  EXPECT_EQ(response_in(Client(connection).ask({Verb::get, "/x"})).code, 200);
}

TEST_F(TlsTest, AnotherNameIsRefusedUnlessItIsTheOneToExpect) {
  HttpPeer peer(hello, HttpPeer::Tls{authority.issue("server", "DNS:kube.example")});
  Connection connection = to(peer);
  connection.authority.text = authority.certificate();
  EXPECT_EQ(failure_in(Client(connection).ask({Verb::get, "/x"})), Failure::not_sent);
  connection.tls_server_name = "kube.example";
  EXPECT_EQ(response_in(Client(connection).ask({Verb::get, "/x"})).code, 200);
}

TEST_F(TlsTest, TheClientShowsItsCertificate) {
  HttpPeer peer(hello, HttpPeer::Tls{authority.issue("server", "IP:127.0.0.1"), other.certificate()});
  Connection connection = to(peer);
  connection.authority.text = authority.certificate();
  EXPECT_FALSE(std::holds_alternative<Response>(Client(connection).ask({Verb::get, "/x"})));
  const auto pem = other.issue("operator", "DNS:operator");
  connection.certificate.text = pem.certificate;
  connection.key.text = pem.key;
  EXPECT_EQ(response_in(Client(connection).ask({Verb::get, "/x"})).code, 200);
}

}  // namespace
}  // namespace kron::kube
