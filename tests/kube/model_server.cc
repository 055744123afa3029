// The model of an API server as a program, for tests that start other programs.
//
//     kron-model-api-server --dir DIR [--port N] [--plain] [--user NAME]…
//
// Writes DIR/ca.crt and, for each user (without any: `operator`), DIR/NAME.kubeconfig with a token and
// DIR/NAME-certificate.kubeconfig, prints one line of JSON with the addresses, and serves until it is ended. The second
// address, `control`, is for the test alone: all of /apis without any question or fault, and the paths below.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/prctl.h>
#include <vector>

#include "kron/json/writer.h"
#include "kron/kube/fake/http_api_server.h"
#include "kron/kube/object.h"

namespace {

using kron::JsonWriter;
using kron::Node;
using kron::kube::ApiServer;
using kron::kube::integer_at;
using kron::kube::is_true_at;
using kron::kube::node_at;
using kron::kube::text_at;
using kron::testing::Authority;
using kron::testing::HttpApiServer;
using kron::testing::HttpPeer;
using Fault = HttpApiServer::Fault;

const Node::List& list_in(const Node& node) {
  static const Node::List kNone;
  return node.as<Node::List>() != nullptr ? *node.as<Node::List>() : kNone;
}

std::set<std::string> texts_at(const Node& node, std::string_view key) {
  std::set<std::string> texts;
  const Node* found = node.find(key);
  if (found == nullptr) return texts;
  for (const Node& one : list_in(*found)) {
    if (const auto* text = one.as<std::string>()) texts.insert(*text);
  }
  return texts;
}

int number_at(const Node& node, std::string_view key, int otherwise) {
  return static_cast<int>(integer_at(node, {key}).value_or(otherwise));
}

std::chrono::milliseconds milliseconds_at(const Node& node, std::string_view key) {
  return std::chrono::milliseconds(integer_at(node, {key}).value_or(0));
}

Fault::Kind kind_of(const std::string& word) {
  const std::pair<std::string_view, Fault::Kind> kinds[] = {
      {"drop", Fault::Kind::drop},     {"lose_answer", Fault::Kind::lose_answer},
      {"floats", Fault::Kind::floats}, {"slow", Fault::Kind::slow},
      {"bytes", Fault::Kind::bytes},   {"twice", Fault::Kind::twice},
      {"cut", Fault::Kind::cut},       {"silent", Fault::Kind::silent},
  };
  for (const auto& [name, kind] : kinds) {
    if (name == word) return kind;
  }
  std::fprintf(stderr, "no such fault: %s\n", word.c_str());
  std::abort();
}

class Control {
 public:
  explicit Control(HttpApiServer& server) : server_(server) {}

  void serve(HttpPeer::Talk& talk, const std::string& head, const std::string& body) {
    const std::size_t space = head.find(' ');
    const std::string method = head.substr(0, space);
    const std::string target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
    if (target.starts_with("/apis/")) return serve_api(talk, method, target, body);
    const auto given = kron::parse_json(body.empty() ? "{}" : body, {.size = std::size_t{64} << 20});
    if (!given) {
      talk.answer(400, given.error().message);
      return;
    }
    if (target == "/state") {
      talk.answer(200, state());
      return;
    }
    const bool is_done = set(target, *given) || act(target, *given);
    talk.answer(is_done ? 200 : 404, "{}");
  }

 private:
  void serve_api(HttpPeer::Talk& talk, const std::string& method, const std::string& target, const std::string& body) {
    using kron::kube::Verb;
    kron::kube::Request request{.path = target.substr(0, target.find('?')), .body = body};
    if (const std::size_t mark = target.find('?'); mark != std::string::npos) request.query = target.substr(mark + 1);
    request.verb = method == "POST"     ? Verb::create
                   : method == "PUT"    ? Verb::update
                   : method == "PATCH"  ? Verb::patch
                   : method == "DELETE" ? Verb::remove
                                        : Verb::get;
    const auto response = server_.with_server([&](ApiServer& server) {
      const ApiServer::Options before = server.options;
      server.options = {.knows_suspend = before.knows_suspend};  // nothing is refused here
      auto answered = server.respond(request);
      server.options = before;
      return answered;
    });
    talk.answer(response.code, response.body);
  }

  bool set(const std::string& path, const Node& given) {
    if (path == "/options") {
      server_.with_server([&](ApiServer& server) {
        server.options.knows_suspend = !is_true_at(given, {"drops_suspend"});
        server.options.forces_suspend = is_true_at(given, {"forces_suspend"});
        server.options.forces_open = is_true_at(given, {"forces_open"});
        server.options.namespace_terminating = is_true_at(given, {"namespace_terminating"});
        server.options.gone_as_status = is_true_at(given, {"gone_as_status"});
      });
      server_.with_options([&](HttpApiServer::Options& options) {
        options.jobs_take.reset();
        if (given.find("jobs_take_ms") != nullptr) options.jobs_take = milliseconds_at(given, "jobs_take_ms");
        if (given.find("bookmark_ms") != nullptr) options.bookmark_every = milliseconds_at(given, "bookmark_ms");
      });
      return true;
    }
    if (path == "/refusals") {
      std::vector<ApiServer::Refusal> refusals;
      for (const Node& one : list_in(given)) {
        refusals.push_back({.verb = text_at(one, {"verb"}),
                            .resource = text_at(one, {"resource"}),
                            .code = number_at(one, "code", 403),
                            .reason = text_at(one, {"reason"}),
                            .retry_after = number_at(one, "retry_after", 0),
                            .times = number_at(one, "times", -1)});
      }
      server_.with_server([&](ApiServer& server) { server.options.refusals = refusals; });
      return true;
    }
    if (path == "/faults") {
      std::vector<Fault> faults;
      for (const Node& one : list_in(given)) {
        faults.push_back({.kind = kind_of(text_at(one, {"kind"})),
                          .user = text_at(one, {"user"}),
                          .verb = text_at(one, {"verb"}),
                          .resource = text_at(one, {"resource"}),
                          .delay = milliseconds_at(one, "delay_ms"),
                          .times = number_at(one, "times", -1)});
      }
      server_.with_options([&](HttpApiServer::Options& options) { options.faults = faults; });
      return true;
    }
    return set_access(path, given);
  }

  bool set_access(const std::string& path, const Node& given) {
    const auto* members = given.as<Node::Map>();
    if (members == nullptr || (path != "/roles" && path != "/tokens")) return false;
    server_.with_options([&](HttpApiServer::Options& options) {
      if (path == "/roles") options.roles.clear();
      if (path == "/tokens") options.tokens.clear();
      for (const Node::Member& member : *members) {
        if (const auto* user = member.value.as<std::string>(); user != nullptr) options.tokens[member.key] = *user;
        for (const Node& rule : list_in(member.value)) {
          options.roles[member.key].push_back({texts_at(rule, "verbs"), texts_at(rule, "resources")});
        }
      }
    });
    return true;
  }

  bool act(const std::string& path, const Node& given) {
    const auto with = [&](auto use) {
      server_.with_server(use);
      return true;
    };
    if (path == "/compact") return with([](ApiServer& server) { server.compact(); });
    if (path == "/expire-pages") return with([](ApiServer& server) { server.expire_pages(); });
    if (path == "/collect-garbage") return with([](ApiServer& server) { server.collect_garbage(); });
    if (path == "/finish") {
      return with([&](ApiServer& server) {
        server.finish(text_at(given, {"namespace"}), text_at(given, {"name"}), !is_true_at(given, {"failed"}));
      });
    }
    if (path == "/cut-watches") return server_.cut_watches(), true;
    if (path == "/down") return server_.down(), true;
    if (path == "/up") return server_.up(), true;
    if (path == "/forget-calls") return server_.forget_calls(), true;
    return false;
  }

  std::string state() {
    JsonWriter out;
    out.begin_map().key("started").begin_list();
    for (const HttpApiServer::Start& start : server_.started()) {
      out.begin_map().member("uid", start.job.uid).member("name", start.job.name);
      out.member("identity", start.job.identity).member("period", start.job.period);
      out.key("at").real(std::chrono::duration<double>(start.at.time_since_epoch()).count()).end_map();
    }
    out.end_list().key("calls").begin_list();
    for (const auto& [call, count] : server_.calls()) {
      const auto& [user, verb, resource, code] = call;
      out.begin_map().member("user", user).member("verb", verb).member("resource", resource);
      out.key("code").integer(code).key("count").integer(count).end_map();
    }
    out.end_list().key("watches").integer(server_.watches());
    return out.end_map().take();
  }

  HttpApiServer& server_;
};

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

void write_kubeconfigs(const std::string& dir, const std::string& user, const HttpApiServer& server,
                       const Authority& authority, bool is_plain) {
  const std::string begin =
      "apiVersion: v1\nkind: Config\ncurrent-context: model\ncontexts:\n- name: model\n  context: {cluster: model, "
      "user: " +
      user + "}\nclusters:\n- name: model\n  cluster:\n    server: " + server.url() + "\n" +
      (is_plain ? "" : "    certificate-authority: ca.crt\n") + "users:\n- name: " + user + "\n";
  write_file(dir + "/" + user + ".kubeconfig", begin + "  user: {token: token-of-" + user + "}\n");
  if (is_plain) return;
  const kron::testing::Pem pem = authority.issue(user, "DNS:" + user);
  write_file(dir + "/" + user + ".crt", pem.certificate);
  write_file(dir + "/" + user + ".key", pem.key);
  write_file(dir + "/" + user + "-certificate.kubeconfig",
             begin + "  user: {client-certificate: " + user + ".crt, client-key: " + user + ".key}\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::string dir;
  std::vector<std::string> users;
  HttpApiServer::Options options;
  bool is_plain = false;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--plain") {
      is_plain = true;
    } else if (flag == "--dir" && has_value) {
      dir = argv[++i];
    } else if (flag == "--user" && has_value) {
      users.emplace_back(argv[++i]);
    } else if (flag == "--port" && has_value) {
      options.port = static_cast<std::uint16_t>(std::atoi(argv[++i]));
    } else {
      std::fprintf(stderr, "usage: %s --dir DIR [--port N] [--plain] [--user NAME]...\n", argv[0]);
      return 2;
    }
  }
  if (users.empty()) users.emplace_back("operator");
  for (const std::string& user : users) options.tokens["token-of-" + user] = user;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies takes it along
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const Authority authority("authority of the model");
  if (!is_plain) {
    options.tls = HttpPeer::Tls{.server = authority.issue("model", "IP:127.0.0.1,DNS:localhost"),
                                .client_authority = authority.certificate(),
                                .is_client_optional = true};
  }
  HttpApiServer server(options);
  Control control(server);
  const HttpPeer door(
      [&](HttpPeer::Talk& talk, const std::string& head, const std::string& body) { control.serve(talk, head, body); });
  if (!dir.empty()) {
    write_file(dir + "/ca.crt", authority.certificate());
    for (const std::string& user : users) write_kubeconfigs(dir, user, server, authority, is_plain);
  }
  std::printf("{\"url\":\"%s\",\"control\":\"%s\"}\n", server.url().c_str(), door.url().c_str());
  std::fflush(stdout);
  int received = 0;
  sigwait(&ends, &received);
  return 0;
}
