#include "kron/http/forwarder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include "kron/env/descriptor.h"
#include "kron/env/mailbox.h"
#include "kron/env/thread_start.h"
#include "kron/env/work_thread.h"
#include "kron/http/request_message.h"
#include "kron/http/response_reader.h"
#include "kron/http/unix_socket.h"

namespace kron::http {
namespace {

using SteadyTime = std::chrono::steady_clock;

// An answer of a known length up to this is passed on whole, others as they come.
constexpr std::size_t kWholeAnswer = std::size_t{8} << 20;
// What is read ahead of a slow client; well below Limits::stream_backlog, beyond which it would be cut.
constexpr std::size_t kReadAhead = std::size_t{256} << 10;
constexpr std::size_t kReadPiece = std::size_t{64} << 10;
// The socket of a server that is well takes a connection at once.
constexpr Seconds kConnectTime(2);

std::optional<std::size_t> length_of(const Response& head) {
  const auto text = head.header("content-length");
  std::size_t length = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), length).ec != std::errc()) {
    return std::nullopt;
  }
  return length;
}

}  // namespace

class Forwarder::Loop {
 public:
  Loop(std::string socket_path, Options options)
      : socket_path_(std::move(socket_path)), options_(std::move(options)), thread_([this] { run(); }) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    mailbox_.post([this] { stops_ = true; });
    thread_.join();
  }

  std::size_t under_way() const { return under_way_; }

  void forward(Outgoing request, Reply reply) {
    const std::uint64_t number = next_++;
    auto flight = std::make_shared<Flight>(std::move(request), std::move(reply));
    flight->reply->on_gone([this, number, is_gone = flight->is_gone] {
      *is_gone = true;
      mailbox_.post([this, number] { flights_.erase(number); });
    });
    mailbox_.post([this, number, flight = std::move(flight)] { begin(number, flight); });
  }

  std::uint64_t follow(Outgoing request, Follower follower) {
    const std::uint64_t number = next_++;
    auto flight = std::make_shared<Flight>(std::move(request), std::move(follower));
    mailbox_.post([this, number, flight = std::move(flight)] { begin(number, flight); });
    return number;
  }
  void give_up(std::uint64_t number) {
    mailbox_.post([this, number] { flights_.erase(number); });
  }
  void post(std::function<void()> task) { mailbox_.post(std::move(task)); }

 private:
  // One request on its way, and its answer.
  struct Flight {
    Flight(Forwarder::Outgoing outgoing, Reply way_back) : request(std::move(outgoing)), reply(std::move(way_back)) {}
    Flight(Forwarder::Outgoing outgoing, Follower who) : request(std::move(outgoing)), follower(std::move(who)) {}

    bool has_begun() const { return stream || is_followed; }
    // Instead of a stream.
    void send(Response response) {
      if (reply) return reply->send(std::move(response));
      follower.answered(std::move(response));
    }

    Forwarder::Outgoing request;
    std::optional<Reply> reply;  // none: it has a follower
    Follower follower;
    bool is_followed = false;                                                                 // its head was told
    std::shared_ptr<std::atomic<bool>> is_gone = std::make_shared<std::atomic<bool>>(false);  // the client hung up
    Descriptor socket;
    std::string unsent;
    ResponseReader reader{request.method != "HEAD", kWholeAnswer + kReadPiece};
    std::shared_ptr<Stream> stream;  // once the head is passed on
    std::size_t ahead = 0;           // written to the stream since it was drained
    bool is_paused = false;          // until it is drained
    SteadyTime::time_point deadline = {};
  };
  using FlightPtr = std::shared_ptr<Flight>;

  void run() {
    become_background_thread();
    std::vector<pollfd> watched;
    std::vector<std::uint64_t> numbers;
    while (!stops_) {
      watched.assign(1, {.fd = mailbox_.descriptor(), .events = POLLIN, .revents = 0});
      numbers.assign(1, 0);
      for (const auto& [number, flight] : flights_) {
        const bool sends = !flight->unsent.empty();
        const auto events = static_cast<short>((sends ? POLLOUT : 0) | (flight->is_paused ? 0 : POLLIN));
        // One that waits for its client is not looked at: its hanging up would wake us again and again.
        watched.push_back({.fd = events == 0 ? -1 : flight->socket.get(), .events = events, .revents = 0});
        numbers.push_back(number);
      }
      ::poll(watched.data(), watched.size(), milliseconds_left());
      mailbox_.work_off(std::chrono::milliseconds(50));
      for (std::size_t i = 1; i < watched.size(); ++i) {
        if (watched[i].revents != 0) step(numbers[i]);
      }
      end_late();
      under_way_ = flights_.size();
    }
    flights_.clear();
  }

  int milliseconds_left() const {
    auto earliest = SteadyTime::time_point::max();
    for (const auto& [number, flight] : flights_) {
      if (!flight->has_begun()) earliest = std::min(earliest, flight->deadline);
    }
    if (earliest == SteadyTime::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(earliest - SteadyTime::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  void end_late() {
    const auto now = SteadyTime::now();
    for (auto flight = flights_.begin(); flight != flights_.end();) {
      const bool is_late = !flight->second->has_begun() && flight->second->deadline <= now;
      if (is_late) lost(*flight->second, "no answer in time");
      flight = is_late ? flights_.erase(flight) : std::next(flight);
    }
  }

  void begin(std::uint64_t number, const FlightPtr& flight) {
    if (*flight->is_gone) return;
    if (flights_.size() >= options_.most) {
      Response busy = problem(503, "too many requests at a time; try again");
      busy.headers.emplace_back("Retry-After", "1");
      return flight->send(std::move(busy));
    }
    Fields headers = flight->request.headers;
    headers.emplace_back("Connection", "close");
    auto message = request_message(flight->request.method, flight->request.target, flight->request.body, headers);
    if (!message) return flight->send(problem(message.error()));
    Result<Descriptor> socket = connect_unix(socket_path_, kConnectTime);
    if (!socket) {
      const bool is_away = socket.error().code != Code::refused && socket.error().code != Code::invalid;
      const std::string& why = socket.error().message;
      if (!is_away) return flight->send(problem(socket.error()));
      return flight->send(problem({Code::unreachable, why.substr(0, why.rfind("; ")) + "; " + options_.cure}));
    }
    flight->socket = *std::move(socket);
    flight->unsent = *std::move(message);
    flight->request.body = std::string();
    flight->deadline = SteadyTime::now() + options_.timeout;
    flights_.emplace(number, flight);
    step(number);
  }

  void step(std::uint64_t number) {
    const auto found = flights_.find(number);
    if (found == flights_.end()) return;
    const FlightPtr flight = found->second;
    send_some(*flight);
    if (is_over(*flight))
      flights_.erase(number);
    else if (flight->ahead >= kReadAhead)
      pause(number, *flight);
  }

  static void send_some(Flight& flight) {
    while (!flight.unsent.empty()) {
      const ssize_t sent =
          ::send(flight.socket.get(), flight.unsent.data(), flight.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        flight.unsent.erase(0, static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno != EINTR) {
        flight.unsent.clear();  // the server may have said why before it hung up
      }
    }
  }

  // Reads what is there, and passes it on.
  bool is_over(Flight& flight) {
    if (flight.is_paused) return false;
    std::array<char, kReadPiece> piece;
    const ssize_t size =
        uninterrupted([&] { return ::recv(flight.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT); });
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    const Status read =
        size <= 0 ? flight.reader.closed() : flight.reader.received({piece.data(), static_cast<std::size_t>(size)});
    if (!read) {
      lost(flight, "no whole answer");
      return true;
    }
    if (!flight.reader.has_head()) return false;
    if (const auto answered = std::exchange(flight.request.answered, {})) answered(flight.reader.response().status);
    return flight.reply ? passed_on(flight) : told(flight);
  }

  // As passed_on, to a follower.
  static bool told(Flight& flight) {
    Response& response = flight.reader.response();
    if (!flight.is_followed) {
      // What is refused is short, and told whole.
      if (flight.reader.is_complete() || response.status != 200) {
        if (flight.reader.is_complete()) flight.follower.answered(std::move(response));
        return flight.reader.is_complete();
      }
      flight.is_followed = true;
      flight.follower.begun(response);
    }
    const std::string bytes = std::exchange(response.body, {});
    if (!bytes.empty()) flight.follower.piece(bytes);
    if (flight.reader.is_complete()) flight.follower.ended(true);
    return flight.reader.is_complete();
  }

  // True: all there will be.
  bool passed_on(Flight& flight) {
    Response& response = flight.reader.response();
    if (!flight.stream) {
      if (flight.request.adapt) {
        if (!flight.reader.is_complete()) return false;
        flight.reply->send(flight.request.adapt(std::move(response)));
        return true;
      }
      if (flight.reader.is_complete()) {
        Response whole = head_of(flight);
        whole.body = said_before(flight) + response.body;
        flight.reply->send(std::move(whole));
        return true;
      }
      if (const auto length = length_of(response); length && *length <= kWholeAnswer) return false;
      flight.stream = flight.reply->begin(head_of(flight));
      if (!flight.stream) return true;
      flight.stream->counts_as_whole();
      response.body.insert(0, said_before(flight));
    }
    std::string bytes = std::exchange(response.body, {});
    flight.ahead += bytes.size();
    if (!flight.stream->write(std::move(bytes))) return true;
    if (!flight.reader.is_complete()) return false;
    flight.stream->end();
    return true;
  }

  static std::string said_before(Flight& flight) {
    return flight.reader.response().status == 200 ? std::move(flight.request.before) : std::string();
  }

  Response head_of(Flight& flight) const {
    const Response& came = flight.reader.response();
    Response head{.status = came.status, .content_type = came.content_type, .headers = std::move(flight.request.added)};
    for (const auto& field : came.headers) {
      if (std::ranges::find(options_.passed, field.first) != options_.passed.end()) head.headers.push_back(field);
    }
    return head;
  }

  void pause(std::uint64_t number, Flight& flight) {
    flight.is_paused = true;
    flight.stream->on_drained([this, number] {
      mailbox_.post([this, number] {
        const auto found = flights_.find(number);
        if (found == flights_.end()) return;
        found->second->is_paused = false;
        found->second->ahead = 0;
      });
    });
  }

  static void lost(Flight& flight, const std::string& what) {
    if (flight.stream) return flight.stream->cut();
    if (flight.is_followed) return flight.follower.ended(false);
    flight.send(problem(504, what + " from krond: the request may or may not have been obeyed"));
  }

  const std::string socket_path_;
  const Options options_;
  std::atomic<std::uint64_t> next_ = 1;
  std::atomic<std::size_t> under_way_ = 0;
  Mailbox mailbox_;
  bool stops_ = false;
  std::map<std::uint64_t, FlightPtr> flights_;
  std::thread thread_;
};

Forwarder::Forwarder(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Forwarder::~Forwarder() = default;

Result<std::unique_ptr<Forwarder>> Forwarder::start(std::string socket_path, Options options) {
  auto loop = with_thread("requests that are forwarded",
                          [&] { return std::make_unique<Loop>(std::move(socket_path), std::move(options)); });
  if (!loop) return fail(loop.error());
  return std::unique_ptr<Forwarder>(new Forwarder(*std::move(loop)));
}

std::size_t Forwarder::under_way() const { return loop_->under_way(); }

std::uint64_t Forwarder::follow(Outgoing request, Follower follower) {
  return loop_->follow(std::move(request), std::move(follower));
}
void Forwarder::give_up(std::uint64_t number) { loop_->give_up(number); }
void Forwarder::post(std::function<void()> task) { loop_->post(std::move(task)); }

void Forwarder::forward(Outgoing request, Reply reply) { loop_->forward(std::move(request), std::move(reply)); }

}  // namespace kron::http
