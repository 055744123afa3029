#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kron/env/clock.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/http_peer.h"

namespace kron::testing {

// The ApiServer behind HTTP/1.1 on loopback, over TLS if it has a certificate: bearer tokens and client certificates,
// roles, chunked watches with bookmarks, and faults on the way. On the machine's clock. A thread for each connection;
// everything may be called from any.
class HttpApiServer {
 public:
  // What happens to a call that fits, instead of an answer at once.
  struct Fault {
    enum class Kind : std::uint8_t {
      drop,         // the connection breaks, nothing is done
      lose_answer,  // it is done, and the connection breaks
      floats,       // the connection breaks, and it is done after `delay`
      slow,         // it is done, and answered after `delay`
      // Of watches: what happens to each line.
      bytes,   // in chunks of one byte
      twice,   // said twice
      cut,     // the connection breaks within it
      silent,  // it does not come, as long as the fault is there
    };
    Kind kind = Kind::drop;
    std::string user = {};  // empty: anybody's
    std::string verb = {};  // as in ApiServer::Refusal
    std::string resource = {};
    Nanoseconds delay{0};
    int times = -1;  // so often; negative: until it is taken back
  };

  // What a user may do; "*": anything.
  struct Rule {
    std::set<std::string> verbs;
    std::set<std::string> resources;  // "jobs", "kronjobs/status"
  };

  struct Options {
    std::optional<HttpPeer::Tls> tls = {};
    std::uint16_t port = 0;
    std::map<std::string, std::string> tokens = {};       // to their users; a certificate's name is a user too
    bool is_open = false;                                 // those who show nothing are let in, as "anonymous"
    std::map<std::string, std::vector<Rule>> roles = {};  // of users; who has none may do anything
    std::vector<Fault> faults = {};                       // the first that fits counts
    Nanoseconds bookmark_every = Seconds(60);
    std::optional<Nanoseconds> jobs_take = {};  // Jobs that run are complete after this; none: they run for ever
  };

  struct Start {
    kube::ApiServer::Started job;
    WallTime at;
  };
  using Calls = std::map<std::tuple<std::string, std::string, std::string, int>, int>;  // user, verb, resource, code

  explicit HttpApiServer(Options options);
  HttpApiServer(const HttpApiServer&) = delete;
  HttpApiServer& operator=(const HttpApiServer&) = delete;
  ~HttpApiServer();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Looks at the server or changes it, while nobody else does.
  template <class Use>
  auto with_server(Use use) {
    const Held held(*this);
    return use(server_);
  }
  template <class Use>
  auto with_options(Use use) {
    const Held held(*this);
    return use(options_);
  }
  [[nodiscard]] std::vector<Start> started() const;
  [[nodiscard]] Calls calls() const;
  void forget_calls();
  [[nodiscard]] int watches() const;

  // All connections break and nobody is let in, until up(), at the same port. What was stored stays.
  void down();
  void up();
  // Those that are open break, or end.
  void cut_watches();

 private:
  // Locked; in the end whoever waits for events looks again.
  class Held {
   public:
    explicit Held(HttpApiServer& server);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    HttpApiServer& server_;
    std::unique_lock<std::mutex> lock_;
  };
  struct Call {
    kube::Request request;
    std::string user;
    kube::ApiServer::CallName name;
  };

  void serve(HttpPeer::Talk& talk, const std::string& head, const std::string& body);
  void serve_call(HttpPeer::Talk& talk, const Call& call);
  void serve_watch(HttpPeer::Talk& talk, const Call& call);
  bool say_lines(HttpPeer::Talk& talk, const Call& call, const std::vector<std::string>& lines);
  kube::Response carry_out(const Call& call);
  std::optional<Fault> fault_for(const Call& call, bool is_line);
  [[nodiscard]] std::optional<std::string> user_of(const HttpPeer::Talk& talk, const std::string& head);
  [[nodiscard]] bool may(const Call& call);
  void note(const Call& call, int code);
  void notice_starts();
  void keep_time();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Options options_;  // guarded, as all that follows
  kube::ApiServer server_;
  std::vector<Start> started_;
  std::size_t ended_ = 0;  // of those
  std::vector<std::pair<WallTime, Call>> floating_;
  Calls calls_;
  int watches_ = 0;
  std::uint64_t cuts_ = 0;  // grows with every cut: watches that began before end
  bool is_stopping_ = false;

  std::uint16_t port_ = 0;
  std::unique_ptr<HttpPeer> peer_;
  std::thread clockwork_;
};

}  // namespace kron::testing
