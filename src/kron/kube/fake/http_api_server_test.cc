// The real client on the model of a server, over real sockets: curl_transport, reflector and election.
#include "kron/kube/fake/http_api_server.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <poll.h>

#include "kron/env/deadline.h"
#include "kron/env/mailbox.h"
#include "kron/kube/curl_transport.h"
#include "kron/kube/election.h"
#include "kron/kube/object.h"
#include "kron/kube/reflector.h"
#include "kron/kube/wire.h"
#include "kron/testing/temporary_directory.h"

namespace kron::testing {
namespace {

using kube::ApiServer;
using kube::Broken;
using kube::Connection;
using kube::CurlTransport;
using kube::Lane;
using kube::Outcome;
using kube::Request;
using kube::Response;
using kube::Verb;
using Fault = HttpApiServer::Fault;

constexpr Seconds kPatience{60};
const std::string kShopJobs = "/apis/batch/v1/namespaces/shop/jobs";

std::string suspended_job(const std::string& name) {
  return R"({"metadata":{"namespace":"shop","name":")" + name + R"("},"spec":{"suspend":true,"template":{}}})";
}

const Authority& authority() {
  static const Authority kOne("authority");
  return kOne;
}

HttpApiServer::Options over_tls() {
  return {.tls = HttpPeer::Tls{.server = authority().issue("model", "IP:127.0.0.1"),
                               .client_authority = authority().certificate(),
                               .is_client_optional = true},
          .tokens = {{"token-of-operator", "operator"}}};
}

// A client of the model server, on the machine's clock.
struct ModelClient {
  RealClock clock;
  Mailbox mailbox;
  std::map<std::string, std::string> files = {{"/token", "token-of-operator"}};
  std::unique_ptr<CurlTransport> transport;

  static Connection connection_to(const HttpApiServer& server) {
    Connection connection;
    connection.server = server.url();
    connection.authority.text = authority().certificate();
    connection.token.file = "/token";
    return connection;
  }
  explicit ModelClient(const Connection& connection,
                       CurlTransport::Options options = {
                           .connect_timeout = kPatience, .call_timeout = kPatience, .list_timeout = kPatience}) {
    kube::Credentials credentials(connection, [this](const std::string& path) -> Result<std::string> {
      if (!files.contains(path)) return fail(Code::not_found, "no " + path);
      return files[path];
    });
    transport = CurlTransport::start(std::move(credentials), clock, mailbox, options).value();
  }

  // Works off the mailbox until it is so; `tick` each time.
  bool until(const std::function<bool()>& is_so, const std::function<void()>& tick = {}) {
    const Deadline deadline = deadline_after(kPatience);
    while (true) {
      if (tick) tick();
      if (is_so()) return true;
      if (time_left(deadline) == Nanoseconds(0)) return false;
      pollfd waited{.fd = mailbox.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&waited, 1, 20);
      mailbox.work_off(Seconds(1));
    }
  }
  Outcome ask(Request request, Lane lane = Lane::call) {
    std::optional<Outcome> got;
    transport->send(std::move(request), lane, [&](Outcome outcome) { got = std::move(outcome); });
    EXPECT_TRUE(until([&] { return got.has_value(); }));
    return got.value_or(Broken{.message = "nothing came"});
  }
  Response answer(Request request) {
    const Outcome outcome = ask(std::move(request));
    if (const auto* response = std::get_if<Response>(&outcome)) return *response;
    ADD_FAILURE() << std::get<Broken>(outcome).message;
    return {};
  }
  int create(const std::string& name) { return answer({Verb::create, kShopJobs, "", suspended_job(name)}).code; }
};

TEST(HttpApiServer, KnowsUsersByTokenAndByCertificate) {
  HttpApiServer server(over_tls());
  ModelClient by_token(ModelClient::connection_to(server));
  EXPECT_EQ(by_token.create("a"), 201);

  Connection connection = ModelClient::connection_to(server);
  const Pem pem = authority().issue("admin", "DNS:admin");
  connection.token = {};
  connection.certificate.text = pem.certificate;
  connection.key.text = pem.key;
  ModelClient by_certificate(connection);
  EXPECT_EQ(by_certificate.create("a"), 409);

  connection.certificate = connection.key = {};
  ModelClient by_nothing(connection);
  EXPECT_EQ(by_nothing.create("b"), 401);
  const HttpApiServer::Calls calls = server.calls();
  EXPECT_EQ(calls.at({"operator", "create", "jobs", 201}), 1);
  EXPECT_EQ(calls.at({"admin", "create", "jobs", 409}), 1);
}

TEST(HttpApiServer, ATokenThatHasExpiredIsReadAnew) {
  HttpApiServer server(over_tls());
  ModelClient client(ModelClient::connection_to(server));
  EXPECT_EQ(client.create("a"), 201);
  server.with_options([](HttpApiServer::Options& options) { options.tokens = {{"new", "operator"}}; });
  client.files["/token"] = "new";
  int codes = 0;
  EXPECT_TRUE(client.until([&] { return (codes = client.create("b")) == 201; })) << codes;
}

// Prints what `give` says as an ExecCredential.
kube::ExecPlugin plugin_of(const std::string& give) {
  const std::string begin =
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":")";
  return {.api_version = "client.authentication.k8s.io/v1",
          .command = "/bin/sh",
          .arguments = {"-c", "token=$(" + give + ") || exit 1; printf '" + begin + "%s\"}}' \"$token\""}};
}

TEST(HttpApiServer, AnExecPluginGivesATokenAndIsRunAgainWhenItIsRefused) {
  HttpApiServer server(over_tls());
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/token";
  std::ofstream(file) << "token-of-operator";
  Connection connection = ModelClient::connection_to(server);
  connection.token = {};
  connection.exec = plugin_of("echo run >> " + file + ".runs; cat " + file);
  ModelClient client(connection);
  EXPECT_EQ(client.create("a"), 201);
  EXPECT_EQ(client.create("b"), 201);
  server.with_options([](HttpApiServer::Options& options) { options.tokens = {{"new", "operator"}}; });
  std::ofstream(file) << "new";
  EXPECT_EQ(client.create("c"), 401);
  int code = 0;
  EXPECT_TRUE(client.until([&] {
    const Outcome outcome = client.ask({Verb::create, kShopJobs, "", suspended_job("c")});
    code = std::holds_alternative<Response>(outcome) ? std::get<Response>(outcome).code : 0;
    return code == 201;
  })) << code;
  std::ifstream runs(file + ".runs");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(runs), {}), "run\nrun\n");
}

TEST(HttpApiServer, RequestsWaitForAnExecPluginAndTheLoopDoesNot) {
  HttpApiServer server(over_tls());
  const TemporaryDirectory directory;
  const std::string file = directory.path() + "/go";
  Connection connection = ModelClient::connection_to(server);
  connection.token = {};
  connection.exec = plugin_of("while ! [ -e " + file + " ]; do sleep 0.02; done; echo token-of-operator");
  ModelClient client(connection);
  std::optional<Outcome> got;
  const auto ask = [&] {
    return client.transport->send({Verb::create, kShopJobs, "", suspended_job("a")}, Lane::call,
                                  [&](Outcome outcome) { got = std::move(outcome); });
  };
  client.transport->cancel(ask());
  ask();
  for (int i = 0; i < 5; ++i) client.mailbox.work_off(Seconds(1));
  EXPECT_FALSE(got);
  std::ofstream(file) << "go";
  EXPECT_TRUE(client.until([&] { return got.has_value(); }));
  EXPECT_EQ(std::get<Response>(*got).code, 201) << "what was cancelled meanwhile was not sent";
}

TEST(HttpApiServer, AnExecPluginThatFailsOrHangsIsSaidToHaveSentNothing) {
  HttpApiServer server(over_tls());
  for (const char* give : {"exit 3", "exec sleep 1000"}) {
    Connection connection = ModelClient::connection_to(server);
    connection.token = {};
    connection.exec = plugin_of(give);
    ModelClient client(connection, {.plugin_timeout = Seconds(2)});
    const Outcome outcome = client.ask({Verb::create, kShopJobs, "", suspended_job("a")});
    ASSERT_TRUE(std::holds_alternative<Broken>(outcome));
    EXPECT_EQ(std::get<Broken>(outcome).failure, kube::Failure::not_sent);
  }
  Connection connection = ModelClient::connection_to(server);
  connection.token = {};
  connection.exec = plugin_of("exec sleep 1000");
  ModelClient client(connection);
  client.transport->send({.path = kShopJobs}, Lane::call, [](const Outcome&) { ADD_FAILURE(); });
  client.transport.reset();  // does not wait for the plug-in
}

TEST(HttpApiServer, ARoleIsWhatAUserMayDo) {
  HttpApiServer server(over_tls());
  server.with_options([](HttpApiServer::Options& options) {
    options.roles["operator"] = {{{"get", "list", "watch"}, {"jobs"}}, {{"update"}, {"kronjobs/status"}}};
  });
  ModelClient client(ModelClient::connection_to(server));
  EXPECT_EQ(client.create("a"), 403);
  EXPECT_EQ(client.answer({.path = kShopJobs}).code, 200);
  const std::string kron_job = "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs/x";
  EXPECT_EQ(client.answer({Verb::update, kron_job, "", "{}"}).code, 403);
  EXPECT_EQ(client.answer({Verb::update, kron_job + "/status", "", "{}"}).code, 404);
}

TEST(HttpApiServer, RefusalsComeAsStatusesAndUnknownPathsAsText) {
  HttpApiServer server(over_tls());
  server.with_server([](ApiServer& value) {
    value.options.refusals = {
        {.verb = "create", .code = 429, .reason = "TooManyRequests", .retry_after = 3, .times = 1}};
  });
  ModelClient client(ModelClient::connection_to(server));
  const Response busy = client.answer({Verb::create, kShopJobs, "", suspended_job("a")});
  EXPECT_EQ(busy.code, 429);
  EXPECT_EQ(busy.retry_after, Seconds(3));
  EXPECT_TRUE(busy.date.has_value());
  EXPECT_EQ(client.create("a"), 201);
  const Response invalid = client.answer({Verb::create, kShopJobs, "", R"({"metadata":{"name":"b"},"spec":{}})"});
  EXPECT_EQ(invalid.code, 422);
  EXPECT_EQ(kube::text_at(kube::read_body(invalid.body).value(), {"reason"}), "Invalid");
  const Outcome nowhere = client.ask({.path = "/apis/unknown"});
  EXPECT_EQ(std::get<Response>(nowhere).body, "404 page not found\n");
  EXPECT_EQ(std::get<kube::Answer>(kube::reply_of(nowhere)).code, 404);
}

TEST(HttpApiServer, AnAnswerMayBeLostAndARequestMayFloat) {
  HttpApiServer server(over_tls());
  const auto breaks = [&](Fault::Kind kind) {
    server.with_options([&](HttpApiServer::Options& options) {
      options.faults = {{.kind = kind, .verb = "create", .delay = std::chrono::milliseconds(300)}};
    });
    ModelClient client(ModelClient::connection_to(server));  // a connection of its own: one that is kept is repeated
    const Outcome outcome = client.ask({Verb::create, kShopJobs, "", suspended_job("a")});
    const bool is_unknown =
        std::holds_alternative<Broken>(outcome) && std::get<Broken>(outcome).failure == kube::Failure::unknown;
    EXPECT_TRUE(is_unknown);
    server.with_options([](HttpApiServer::Options& options) { options.faults.clear(); });
  };
  const auto is_there = [&] {
    return server.with_server([](const ApiServer& value) { return value.find("jobs", "shop", "a") != nullptr; });
  };
  ModelClient client(ModelClient::connection_to(server));
  breaks(Fault::Kind::drop);
  EXPECT_FALSE(is_there());
  breaks(Fault::Kind::lose_answer);
  EXPECT_TRUE(is_there());
  EXPECT_EQ(client.create("a"), 409) << "the name says that it was done";
  server.with_server([](ApiServer& value) { value.remove("jobs", "shop", "a", ApiServer::Deletion::background); });
  breaks(Fault::Kind::floats);
  EXPECT_TRUE(client.until(is_there)) << "long after nobody waits for it";
}

TEST(HttpApiServer, ASlowAnswerIsUnknown) {
  HttpApiServer server(over_tls());
  server.with_options([](HttpApiServer::Options& options) {
    options.faults = {{.kind = Fault::Kind::slow, .verb = "create", .delay = kPatience}};
  });
  ModelClient client(ModelClient::connection_to(server),
                     {.connect_timeout = kPatience, .call_timeout = Seconds(2), .list_timeout = kPatience});
  const Outcome outcome = client.ask({Verb::create, kShopJobs, "", suspended_job("a")});
  ASSERT_TRUE(std::holds_alternative<Broken>(outcome));
  EXPECT_EQ(std::get<Broken>(outcome).failure, kube::Failure::unknown);
}

// A reflector over HTTP, and whether it knows what is true.
class HttpReflectedTest : public ::testing::Test {
 protected:
  void begin(std::size_t page = 3) {
    client = std::make_unique<ModelClient>(ModelClient::connection_to(server));
    kube::Reflector::Listener listener;
    listener.on_object = [this](const Node& object) {
      known[kube::text_at(object, {"metadata", "name"})] = kube::text_at(object, {"metadata", "resourceVersion"});
    };
    listener.on_gone = [this](const kube::Reflector::Gone& gone) { known.erase(gone.name); };
    reflector = std::make_unique<kube::Reflector>(
        *client->transport, client->clock,
        kube::Reflector::Options{.path = kShopJobs, .page = page, .first_pause = std::chrono::milliseconds(20)},
        std::move(listener));
  }
  ~HttpReflectedTest() override { reflector.reset(); }

  void add(const std::string& name) {
    server.with_server([&](ApiServer& value) { value.create("jobs", parse_json(suspended_job(name)).value()); });
  }
  void remove(const std::string& name) {
    server.with_server([&](ApiServer& value) { value.remove("jobs", "shop", name, ApiServer::Deletion::background); });
  }
  void faults(std::vector<Fault> wanted) {
    server.with_options([&](HttpApiServer::Options& options) { options.faults = std::move(wanted); });
  }
  bool is_true() {
    std::map<std::string, std::string> there;
    server.with_server([&](const ApiServer& value) {
      for (const auto& object : value.list("jobs")) {
        there[kube::text_at(*object, {"metadata", "name"})] = kube::text_at(*object, {"metadata", "resourceVersion"});
      }
    });
    return there == known;
  }
  bool comes_true() {
    return client->until([&] { return reflector->has_listed() && is_true(); }, [&] { reflector->tick(); });
  }
  int lists() { return server.calls()[{"operator", "list", "jobs", 200}]; }

  HttpApiServer server{over_tls()};
  std::unique_ptr<ModelClient> client;
  std::map<std::string, std::string> known;
  std::unique_ptr<kube::Reflector> reflector;
};

TEST_F(HttpReflectedTest, ListsByPagesAndWatches) {
  for (char c = 'a'; c < 'i'; ++c) add(std::string(1, c));
  begin();
  EXPECT_TRUE(comes_true());
  EXPECT_EQ(lists(), 3);
  remove("a");
  add("x");
  server.with_server([](ApiServer& value) { value.finish("shop", "b", true); });
  EXPECT_TRUE(comes_true());
  EXPECT_EQ(lists(), 3);
}

TEST_F(HttpReflectedTest, ReadsLinesHoweverTheyCome) {
  begin();
  EXPECT_TRUE(comes_true());
  for (const Fault::Kind kind : {Fault::Kind::bytes, Fault::Kind::twice}) {
    faults({{.kind = kind}});
    add("ü" + std::to_string(static_cast<int>(kind)));
    EXPECT_TRUE(comes_true());
  }
  EXPECT_EQ(lists(), 1);
  faults({{.kind = Fault::Kind::cut, .times = 1}});
  add("cut");
  EXPECT_TRUE(comes_true());
  EXPECT_EQ(lists(), 1) << "the same line again, from the version before it";
}

TEST_F(HttpReflectedTest, HearsLateOfWhatWasHeldBack) {
  begin();
  EXPECT_TRUE(comes_true());
  faults({{.kind = Fault::Kind::silent}});
  add("a");
  EXPECT_FALSE(is_true());
  faults({});
  EXPECT_TRUE(comes_true());
}

TEST_F(HttpReflectedTest, ListsAnewWhenItsVersionIsForgotten) {
  for (const bool as_status : {false, true}) {
    server.with_server([&](ApiServer& value) { value.options.gone_as_status = as_status; });
    add("a");
    add("b");
    begin();
    EXPECT_TRUE(comes_true());
    const int before = lists();
    server.down();
    remove("a");
    server.with_server([](ApiServer& value) { value.compact(); });
    server.up();
    EXPECT_TRUE(comes_true());
    EXPECT_GT(lists(), before);
    reflector.reset();
    remove("b");
    known.clear();
  }
}

TEST_F(HttpReflectedTest, GoesOnWhereItWasWhenTheServerComesBack) {
  add("a");
  begin();
  EXPECT_TRUE(comes_true());
  server.down();
  remove("a");
  add("b");
  EXPECT_FALSE(is_true());
  server.up();
  EXPECT_TRUE(comes_true());
  EXPECT_EQ(lists(), 1);
}

TEST_F(HttpReflectedTest, GoesOnWhenTheServerHasAnotherCertificate) {
  begin();
  EXPECT_TRUE(comes_true());
  server.down();
  server.with_options([](HttpApiServer::Options& options) {
    options.tls->server = authority().issue("model", "IP:127.0.0.1,DNS:other");
  });
  server.up();
  add("a");
  EXPECT_TRUE(comes_true());
}

TEST_F(HttpReflectedTest, BeginsAListAnewWhenItsPagesHaveExpired) {
  for (char c = 'a'; c < 'i'; ++c) add(std::string(1, c));
  faults({{.kind = Fault::Kind::slow, .verb = "list", .delay = std::chrono::milliseconds(1), .times = 1}});
  begin(2);
  EXPECT_TRUE(client->until([&] { return !known.empty(); },
                            [&] {
                              reflector->tick();
                              server.with_server([](ApiServer& value) { value.expire_pages(); });
                            }));
  EXPECT_TRUE(comes_true());
}

// Two candidates on one Lease, each with its own transport; time is the test's own.
struct Candidate {
  ModelClient client;
  kube::Election election;

  Candidate(const HttpApiServer& server, const std::string& name)
      : client(ModelClient::connection_to(server)),
        election({.ns = "kron", .name = "kron-operator", .identity = name}) {}

  // Makes the calls that it wants at this time, until it rests; until when.
  Nanoseconds turn(Nanoseconds boot) {
    const WallTime wall = WallTime(Nanoseconds(Seconds(1'795'000'000))) + boot;
    while (true) {
      kube::Election::Step step = election.next(boot, wall);
      if (const auto* rest = std::get_if<kube::Election::Rest>(&step)) return rest->until;
      const Outcome outcome = client.ask(std::get<kube::Election::Call>(step).request, Lane::lease);
      election.answered(kube::reply_of(outcome), boot);
    }
  }
  [[nodiscard]] bool leads(Nanoseconds boot) const { return election.is_leader(boot); }
};

struct HttpElection : ::testing::Test {
  HttpElection() {
    a.turn(Seconds(0));
    b.turn(Seconds(0));
  }

  HttpApiServer server{over_tls()};
  Candidate a{server, "a"};
  Candidate b{server, "b"};
};

TEST_F(HttpElection, AnotherTakesOverWhenTheLeaderIsSilentAndTheOldOneNoticesFirst) {
  EXPECT_TRUE(a.leads(Seconds(0)) && !b.leads(Seconds(0)));
  Nanoseconds since(0);
  for (int second = 1; second <= 30; ++second) {  // a is stopped
    b.turn(Seconds(second));
    EXPECT_FALSE(a.leads(Seconds(second)) && b.leads(Seconds(second))) << second;
    if (b.leads(Seconds(second)) && since == Nanoseconds(0)) since = Seconds(second);
  }
  EXPECT_EQ(since, Seconds(15));
  a.turn(Seconds(31));
  EXPECT_EQ(a.election.state(), kube::Election::State::lost);
}

TEST_F(HttpElection, ALeaderThatReleasesIsFollowedAtOnce) {
  a.election.release();
  a.turn(Seconds(1));
  EXPECT_EQ(a.election.state(), kube::Election::State::released);
  b.turn(Seconds(2));
  EXPECT_TRUE(b.leads(Seconds(2)));
  EXPECT_TRUE(b.election.handed_over().has_value());
}

TEST_F(HttpElection, ALeaseSurvivesAnswersThatAreLostAndAServerThatIsBusy) {
  server.with_options([](HttpApiServer::Options& options) {
    options.faults = {{.kind = Fault::Kind::lose_answer, .verb = "update", .resource = "leases", .times = 2}};
  });
  server.with_server([](ApiServer& value) {
    value.options.refusals = {
        {.resource = "leases", .code = 429, .reason = "TooManyRequests", .retry_after = 1, .times = 3}};
  });
  for (Nanoseconds boot(0); boot < Seconds(60); boot += std::chrono::milliseconds(250)) {
    a.turn(boot);
    ASSERT_TRUE(a.leads(boot)) << boot.count();
  }
  server.down();
  Nanoseconds lost(0);
  for (Nanoseconds boot = Seconds(60); boot < Seconds(75) && lost == Nanoseconds(0); boot += Seconds(1)) {
    a.turn(boot);
    if (!a.leads(boot)) lost = boot;
  }
  EXPECT_GT(lost, Seconds(60));
  EXPECT_LE(lost, Seconds(71));
}

}  // namespace
}  // namespace kron::testing
