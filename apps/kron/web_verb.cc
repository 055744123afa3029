#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <string>
#include <unistd.h>

#include "daemon_client.h"
#include "kron/env/clock.h"
#include "kron/env/event_loop.h"
#include "kron/env/random_hex.h"
#include "kron/http/forwarder.h"
#include "kron/http/server.h"
#include "kron/web/front.h"
#include "kron/web/sessions.h"
#include "lines.h"
#include "operate_verbs.h"
#include "private_memory.h"
#include "web_address.h"

namespace kron::cli {
namespace {

// What goes wrong within the server, for whoever started it.
class WebLog : public Log {
 public:
  void write(LogLevel level, std::string_view event, std::span<const LogField>) override {
    if (level >= LogLevel::warning) std::fprintf(stderr, "kron web: %s\n", std::string(event).c_str());
  }
};

// A file that leads a browser to an address, because everybody on this machine can read the words of a command. Of this
// user alone, and gone with this.
class Signpost {
 public:
  explicit Signpost(const std::string& address) {
    const char* directory = std::getenv("XDG_RUNTIME_DIR");
    if (directory == nullptr || *directory != '/') return;
    const std::string path = std::string(directory) + "/kron-web-" + random_hex() + ".html";
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    const std::string text =
        "<!doctype html><meta charset=utf-8><title>Kron</title><meta http-equiv=refresh content='0;url=" + address +
        "'><a href='" + address + "'>Kron</a>\n";
    if (!file) return;
    path_ = path;
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) remove();
  }
  Signpost(const Signpost&) = delete;
  Signpost& operator=(const Signpost&) = delete;
  ~Signpost() { remove(); }

  void remove() {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
  }
  const std::string& path() const { return path_; }  // empty: there is none

 private:
  std::string path_;
};

bool has_display() {
  for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  }
  return false;
}

// Nobody waits for it: it may be the browser itself, and stay.
bool open_in_browser(const std::string& file) {
  std::array<const char*, 3> words{"xdg-open", file.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, words[0], &actions, &attributes, const_cast<char* const*>(words.data()), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

// kron web, once everything is read: serves until a signal comes.
class PageServer {
 public:
  PageServer(const WebOptions& options, std::string socket) : options_(options), socket_(std::move(socket)) {}

  Status run() {
    auto loop = EventLoop::create(Nanoseconds(0));
    if (!loop) return fail(loop.error());
    // Before there is any other thread, so that they all leave signals to this one.
    bool ends = false;
    if (auto taken = (*loop)->take_signals({SIGINT, SIGTERM, SIGHUP}, [&](int) { ends = true; }); !taken) return taken;
    if (Status started = start(); !started) return started;
    tell_address(!options_.no_open);
    if (::isatty(STDIN_FILENO) == 1) {
      const Status watched = (*loop)->watch(STDIN_FILENO, [&] { asked_for_code(**loop); });
      if (watched) std::printf("Enter prints a new address, Ctrl-C ends.\n");
    }
    std::fflush(stdout);
    while (!ends) {
      (*loop)->wake_at_monotonic(signpost_ ? std::optional(void_at_) : std::nullopt);
      if (const auto woken = (*loop)->wait(); !woken) return fail(woken.error());
      if (clock_.monotonic() >= void_at_) signpost_.reset();
    }
    server_.reset();  // before the forwarder, whose clients are its
    return {};
  }

 private:
  Status start() {
    const bool is_given = !options_.listen.empty();
    const Result<std::uint16_t> port = is_given ? loopback_port(options_.listen) : Result<std::uint16_t>(kWebPort);
    if (!port) return fail(port.error());
    auto forwarder = http::Forwarder::start(socket_, {.passed = web::passed_headers()});
    if (!forwarder) return fail(forwarder.error());
    forwarder_ = *std::move(forwarder);
    front_.emplace(
        web::Front::Options{
            .role = options_.admin ? web::Role::admin : web::Role::operate,
            .host = host_name(),
            .version = KRON_VERSION,
            .tell = [](const std::string& line) { std::fprintf(stderr, "kron web: %s\n", line.c_str()); }},
        sessions_, *forwarder_, clock_);
    auto opened = open_loopback(*port, !is_given && !options_.no_open,
                                [this](const http::Request& head) { return front_->identify(head); });
    if (!opened) return fail(opened.error());
    port_ = opened->port;
    // Whoever connects comes from the same address: none is preferred before he has shown a session, and the places of
    // others are his then.
    http::Server::Options options{.headers = web::Front::headers(), .closes_strangers = true};
    options.limits.connections = {.most = 256, .kept = 0, .of_one_user = 256};
    options.limits.streams = {.most = 64, .kept = 64, .of_one_user = 0};
    options.body_limit = [this](const http::Request& head) { return front_->body_limit(head); };
    auto server = http::Server::start(
        std::move(opened->listeners), std::move(options),
        [this](http::Request request, http::Reply reply) { front_->answer(std::move(request), std::move(reply)); },
        log_);
    if (!server) return fail(server.error());
    server_ = *std::move(server);
    return {};
  }

  void tell_address(bool opens) {
    const std::string base = "http://127.0.0.1:" + std::to_string(port_) + "/";
    const std::string address = base + "#code=" + sessions_.new_code(clock_.boot_time());
    if (opens && has_display()) {
      signpost_.emplace(address);
      void_at_ = clock_.monotonic() + web::Sessions::kCodeLives;
      if (!signpost_->path().empty() && open_in_browser(signpost_->path())) {
        std::printf("Opening %s in your browser. If it does not come up, take this address, once, within a minute:\n",
                    base.c_str());
      }
    }
    std::printf("%s\n", address.c_str());
    if (std::getenv("SSH_CONNECTION") != nullptr) {
      std::printf("From where you are: ssh -L %u:127.0.0.1:%u %s\n", unsigned{port_}, unsigned{port_},
                  host_name().c_str());
    }
    std::fflush(stdout);
  }

  void asked_for_code(EventLoop& loop) {
    std::array<char, 256> line{};
    const ssize_t size = ::read(STDIN_FILENO, line.data(), line.size());
    if (size <= 0) return loop.unwatch(STDIN_FILENO);
    tell_address(false);
  }

  const WebOptions& options_;
  const std::string socket_;
  RealClock clock_;
  WebLog log_;
  web::Sessions sessions_{web::random_secret};
  std::unique_ptr<http::Forwarder> forwarder_;
  std::optional<web::Front> front_;
  std::unique_ptr<http::Server> server_;
  std::optional<Signpost> signpost_;
  Nanoseconds void_at_ = Nanoseconds::max();
  std::uint16_t port_ = 0;
};

}  // namespace

int serve_page(const WebOptions& options) {
  if (options.is_service) return serve_for_many(options.service);
  auto client = DaemonClient::open(options);
  if (!client) return refuse("web", client.error(), false);
  if (const Status here = client->must_be_here("serves the page of a krond on its own host"); !here) {
    return refuse("web", here.error(), false);
  }
  // A wrong socket is told now; a krond that ends later is the page's business.
  if (const auto status = client->get(Target("status")); !status) return refuse("web", status.error(), false);
  keep_memory_private();
  if (::geteuid() == 0) {
    std::fprintf(stderr,
                 "kron web: whoever has the address may do what root may with krond's jobs; give your own user "
                 "krond's group instead (see docs/operating.md)\n");
  }
  const Status served = PageServer(options, client->path()).run();
  return served ? 0 : refuse("web", served.error(), false);
}

}  // namespace kron::cli
