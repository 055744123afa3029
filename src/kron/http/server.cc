#include "kron/http/server.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <unordered_set>
#include <utility>

#include "kron/env/system_error.h"
#include "kron/env/work_thread.h"
#include "kron/http/connection.h"
#include "kron/http/handshakes.h"
#include "kron/http/tls.h"
#include "kron/http/turned_away.h"

namespace kron::http {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kDefaultBodyLimit = std::size_t{1} << 20;
// Then those who are connected have a turn.
constexpr int kAcceptedAtOnce = 64;
// How long the end of the server waits for clients to take what is being sent to them.
constexpr std::chrono::milliseconds kFarewell(200);
// Out of descriptors or memory: some will be free again.
constexpr std::chrono::milliseconds kAcceptAgain(100);

Response busy() {
  Response response = problem(503, "too many connections; try again");
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

// A thread made meanwhile inherits the mask: no signal of the process is ever delivered to it.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

// Everything that lives on the server's thread.
class Server::Loop {
 public:
  Loop(Listeners listeners, Options options, Handler handler, Log& log)
      : log_(log), handshakes_(log), farewell_(context_), turned_away_(options.limits), turned_away_timer_(context_) {
    service_.limits = options.limits;
    service_.connections = std::make_shared<Budget>(options.limits.connections);
    service_.streams = std::make_shared<Budget>(options.limits.streams);
    service_.bodies = std::make_shared<Budget>(options.limits.bodies);
    service_.requests = std::make_shared<Budget>(options.limits.requests);
    service_.headers = std::move(options.headers);
    closes_strangers_ = options.closes_strangers;
    service_.body_limit = std::move(options.body_limit);
    if (!service_.body_limit) service_.body_limit = [](const Request&) { return kDefaultBodyLimit; };
    service_.handler = std::move(handler);
    service_.thread =
        std::make_shared<ServerThread>([this](ServerThread::Task task) { asio::post(context_, std::move(task)); });
    service_.closed = [this](const std::shared_ptr<Connection>& connection) { forget(connection); };
    service_.shaken = [this](const std::shared_ptr<Connection>& connection, const std::string& why) {
      shaken(connection, why);
    };
    for (auto& listener : listeners) {
      const Service& service = service_for(*listener);
      entrances_.push_back(std::make_unique<Entrance>(context_, std::move(listener), service));
    }
    const SignalsBlocked inherited;
    thread_ = std::thread([this] { run(); });
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  ~Loop() {
    asio::post(context_, [this] { stop(); });
    thread_.join();
    service_.thread->end();
  }

  Close closer() {
    return [this, thread = service_.thread](std::function<bool(const Principal&)> is_meant) {
      // Dropped when the thread has ended, and this with it.
      thread->post([this, is_meant = std::move(is_meant)] {
        for (const auto& connection : std::unordered_set(connections_)) {
          if (is_meant(connection->principal())) connection->close_behind_answer();
        }
      });
    };
  }

  Post poster() const {
    return [thread = service_.thread](ServerThread::Task task) { thread->post(std::move(task)); };
  }

 private:
  struct Entrance {
    Entrance(asio::io_context& context, std::unique_ptr<Listener> from, const Service& of_its_clients)
        : listener(std::move(from)),
          service(of_its_clients),
          acceptor(context, ::fcntl(listener->descriptor(), F_DUPFD_CLOEXEC, 0)),
          pause(context) {}

    std::unique_ptr<Listener> listener;
    const Service& service;
    asio::posix::stream_descriptor acceptor;
    asio::steady_timer pause;
    bool is_failing = false;
  };

  // That of all, or one with limits of the listener's own.
  const Service& service_for(const Listener& listener) {
    const Limits* own = listener.limits();
    if (own == nullptr) return service_;
    Service service = service_;
    service.limits = *own;
    service.connections = std::make_shared<Budget>(own->connections);
    service.streams = std::make_shared<Budget>(own->streams);
    service.bodies = std::make_shared<Budget>(own->bodies);
    service.requests = std::make_shared<Budget>(own->requests);
    services_.push_back(std::make_unique<Service>(std::move(service)));
    return *services_.back();
  }

  void run() {
    become_background_thread();  // a request never holds up a job that is due
    service_.thread->is_this();
    for (const auto& entrance : entrances_) wait_for_clients(*entrance);
    context_.run();
  }

  void stop() {
    for (const auto& entrance : entrances_) {
      ErrorCode ignored;
      entrance->acceptor.close(ignored);
      entrance->pause.cancel();
    }
    is_stopping_ = true;
    for (const auto& connection : std::unordered_set(connections_)) connection->stop();
    if (connections_.empty()) return context_.stop();
    farewell_.expires_after(kFarewell);
    farewell_.async_wait([this](const ErrorCode& error) {
      if (error) return;
      for (const auto& connection : std::unordered_set(connections_)) connection->close();
    });
  }

  void forget(const std::shared_ptr<Connection>& connection) {
    connections_.erase(connection);
    if (is_stopping_ && connections_.empty()) context_.stop();
  }

  void wait_for_clients(Entrance& entrance) {
    entrance.acceptor.async_wait(asio::posix::descriptor_base::wait_read, [this, &entrance](const ErrorCode& error) {
      if (!error) accept_some(entrance);
    });
  }

  void accept_some(Entrance& entrance) {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      Descriptor socket(::accept4(entrance.listener->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket) {
        add(std::move(socket), entrance);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        entrance.is_failing = false;
        return wait_for_clients(entrance);
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return accept_later(entrance, errno);
      }
    }
    wait_for_clients(entrance);
  }

  void accept_later(Entrance& entrance, int error_number) {
    if (!std::exchange(entrance.is_failing, true)) {
      log_.warning("http_accept_failed",
                   {{"error", system_error("accept a connection on", "the socket", error_number).message}});
    }
    entrance.pause.expires_after(kAcceptAgain);
    entrance.pause.async_wait([this, &entrance](const ErrorCode& error) {
      if (!error) wait_for_clients(entrance);
    });
  }

  void add(Descriptor socket, const Entrance& entrance) {
    const std::shared_ptr<const TlsContext> tls = entrance.listener->tls();
    auto identified = entrance.listener->identify(socket.get());
    if (auto* no = std::get_if<Response>(&identified)) {
      return turn_away(std::move(socket), std::move(*no), tls != nullptr);
    }
    auto& connected = std::get<Principal>(identified);
    auto place = std::make_unique<Share>(entrance.service.connections, user_of(connected));
    if (!place->grow(1) && !(closes_strangers_ && close_stranger() && place->grow(1))) {
      return turn_away(std::move(socket), busy(), tls != nullptr);
    }
    std::optional<TlsSession> session;
    if (tls) {
      auto made = TlsSession::for_server(tls);
      if (!made) return handshakes_.failed(connected.name, made.error().message, std::chrono::steady_clock::now());
      session = *std::move(made);
    }
    const std::string address = connected.name;
    const auto connection =
        std::make_shared<Connection>(context_, Wire::open(context_, std::move(socket), std::move(session)),
                                     entrance.service, *entrance.listener, std::move(connected), std::move(place));
    connections_.insert(connection);
    if (tls) begin_handshake(connection, address);
    connection->start();
  }

  void begin_handshake(const std::shared_ptr<Connection>& connection, const std::string& address) {
    if (const auto crowded_out = handshakes_.add(connection, address)) {
      shaken(crowded_out, "too many at once");
      crowded_out->close();
    }
  }

  void shaken(const std::shared_ptr<Connection>& connection, const std::string& why) {
    const std::string address = handshakes_.remove(connection);
    if (!why.empty()) handshakes_.failed(address, why, std::chrono::steady_clock::now());
  }

  // False: there is none.
  bool close_stranger() {
    std::shared_ptr<Connection> first;
    for (const auto& connection : connections_) {
      if (connection->is_stranger() && (!first || connection->begun() < first->begun())) first = connection;
    }
    if (first) first->close();
    return first != nullptr;
  }

  // Over TLS nothing can be said before a handshake, and that would be the work we have no time for.
  void turn_away(Descriptor socket, Response response, bool is_tls) {
    if (is_tls) return;
    response.headers.insert(response.headers.end(), service_.headers.begin(), service_.headers.end());
    if (turned_away_.is_empty()) close_turned_away_in(service_.limits.linger);
    turned_away_.add(std::move(socket), response);
  }

  void close_turned_away_in(Nanoseconds time) {
    turned_away_timer_.expires_after(time);
    turned_away_timer_.async_wait([this](const ErrorCode& error) {
      if (error) return;
      if (const auto next = turned_away_.close_due()) close_turned_away_in(*next);
    });
  }

  Service service_;                                 // before the context: connections in it use it to the end
  std::vector<std::unique_ptr<Service>> services_;  // of listeners with limits of their own
  Log& log_;
  Handshakes handshakes_;
  bool is_stopping_ = false;
  bool closes_strangers_ = false;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(context_);
  std::vector<std::unique_ptr<Entrance>> entrances_;
  asio::steady_timer farewell_;
  TurnedAway turned_away_;
  asio::steady_timer turned_away_timer_;
  std::thread thread_;
};

Server::Server(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Server::~Server() = default;

Server::Close Server::closer() const { return loop_->closer(); }

Server::Post Server::poster() const { return loop_->poster(); }

Result<std::unique_ptr<Server>> Server::start(Listeners listeners, Options options, Handler handler, Log& log) {
  try {
    auto loop = std::make_unique<Loop>(std::move(listeners), std::move(options), std::move(handler), log);
    return std::unique_ptr<Server>(new Server(std::move(loop)));
  } catch (const std::exception& exception) {
    return fail(Code::io, std::string("cannot serve HTTP: ") + exception.what() +
                              "; raise the limits of open files and threads (ulimit -n, ulimit -u)");
  }
}

}  // namespace kron::http
