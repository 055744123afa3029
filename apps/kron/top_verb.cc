#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "kron/env/clock.h"
#include "lines.h"
#include "operate_verbs.h"
#include "terminal.h"
#include "top_data.h"

namespace kron::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr Nanoseconds kRefresh = std::chrono::seconds(1);
constexpr std::size_t kLongestFilter = 100;

termios g_before{};  // the terminal, for whoever ends the process

// A signal ends it at once, even while krond is asked, and leaves the terminal as it was.
void leave_and_die(int signal) {
  static_cast<void>(!::write(STDOUT_FILENO, kLeave.data(), kLeave.size()));
  ::tcsetattr(STDIN_FILENO, TCSANOW, &g_before);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A changed size wakes who waits for a key.
void note_size(int /*signal*/) {}

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The terminal as a screen for as long as this lives; afterwards it is as it was.
class Screen {
 public:
  Screen() {
    ::tcgetattr(STDIN_FILENO, &g_before);
    raw_ = g_before;
    raw_.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw_.c_cc[VMIN] = 0;
    raw_.c_cc[VTIME] = 0;
    raw_.c_cc[VSUSP] = _POSIX_VDISABLE;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT}) handle(signal, leave_and_die);
    handle(SIGWINCH, note_size);
    enter();
  }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  void enter() const {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw_);
    put(kEnter);
  }
  static void leave() {
    put(kLeave);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &g_before);
  }
  static void show(const std::string& frame) { put("\x1b[H" + frame); }

 private:
  static void handle(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    ::sigaction(signal, &action, nullptr);
  }

  termios raw_{};
};

struct Size {
  std::size_t width = 80;
  std::size_t height = 24;
};

Size size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

// What is typed, key by key: none is lost, however fast it comes. An arrow is j or k, other escapes are nothing.
class TypedKeys {
 public:
  // 0: none within that time.
  char next(Nanoseconds limit) {
    if (typed_.empty()) read(std::chrono::ceil<std::chrono::milliseconds>(std::max(limit, Nanoseconds(0))));
    if (typed_.empty()) return '\0';
    const char key = typed_.front();
    const bool is_sequence = key == '\x1b' && typed_.size() > 2 && (typed_[1] == '[' || typed_[1] == 'O');
    const std::size_t end = is_sequence ? std::min(typed_.find_first_not_of("0123456789;", 2), typed_.size() - 1) : 0;
    const char last = typed_[end];
    typed_.erase(0, end + 1);
    if (!is_sequence) return key;
    return last == 'A' ? 'k' : last == 'B' ? 'j' : '\0';
  }

 private:
  void read(std::chrono::milliseconds limit) {
    pollfd polled{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&polled, 1, static_cast<int>(limit.count())) <= 0) return;
    std::array<char, 256> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count > 0) typed_.assign(bytes.data(), static_cast<std::size_t>(count));
    if (count <= 0 && (polled.revents & POLLHUP) != 0) typed_ = "q";
  }

  std::string typed_;
};

class Top {
 public:
  Top(const DaemonOptions& options, DaemonClient client) : options_(options), source_(std::move(client)) {
    view_.has_colour = wants_colour(STDOUT_FILENO);
    view_.has_utf8 = for_locale("█") == "█";
  }

  int run() {
    const RealClock clock;
    while (true) {
      data_ = source_.look();
      const Nanoseconds again = clock.monotonic() + kRefresh;
      do {
        paint();
        const char key = keys_.next(again - clock.monotonic());
        if (key != '\0' && !(is_filtering_ ? edit_filter(key) : obey(key))) return 0;
      } while (clock.monotonic() < again);
    }
  }

 private:
  // Whoever has chosen a row keeps it while the list moves.
  void paint() {
    rows_ = top_rows(data_, view_);
    if (const auto found = std::ranges::find(rows_, chosen_); found != rows_.end()) {
      view_.selected = static_cast<std::size_t>(found - rows_.begin());
    }
    choose(view_.selected);
    const Size size = size_of_terminal();
    Screen::show(top_frame(data_, view_, size.width, size.height));
  }

  void choose(std::size_t row) {
    view_.selected = rows_.empty() ? 0 : std::min(row, rows_.size() - 1);
    chosen_ = rows_.empty() ? TopRow() : rows_[view_.selected];
  }

  bool edit_filter(char key) {
    if (key == '\x1b') view_.filter.clear();
    is_filtering_ = key != '\r' && key != '\n' && key != '\x1b';
    if ((key == '\x7f' || key == '\b') && !view_.filter.empty()) view_.filter.pop_back();
    if (key >= ' ' && key < '\x7f' && view_.filter.size() < kLongestFilter) view_.filter += key;
    view_.prompt = is_filtering_ ? "filter: " + view_.filter : "";
    return true;
  }

  // False: the reader has seen enough.
  bool obey(char key) {
    const std::string verb = std::exchange(to_confirm_, "");
    view_.prompt.clear();
    if (!verb.empty()) {
      if (key == 'y') view_.prompt = source_.act(verb, job_to_confirm_);
      return true;
    }
    if (key == 'j') choose(view_.selected + 1);
    if (key == 'k' && view_.selected > 0) choose(view_.selected - 1);
    if (key == '\r' || key == '\n') look_at(show_one, NameOptions{options_, name_of_chosen()});
    if (key == 'l') look_at(show_output, LogsOptions{{options_, name_of_chosen()}, false, size_of_terminal().height});
    if (key == 'r') confirm("trigger", "run");
    if (key == 'p') confirm("pause", "pause");
    is_filtering_ = key == '/';
    if (is_filtering_) view_.prompt = "filter: " + view_.filter;
    return key != 'q';
  }

  std::string name_of_chosen() const { return chosen_.run_id.empty() ? chosen_.job : chosen_.run_id; }

  // The job that is named is the one that is meant, wherever it stands when the answer comes.
  void confirm(const std::string& verb, const std::string& word) {
    if (rows_.empty()) return;
    to_confirm_ = verb;
    job_to_confirm_ = chosen_.job;
    view_.prompt = word + " " + chosen_.job + "? y: yes, any other key: no";
  }

  // On the screen that was there before, as the verb itself shows it.
  template <class Options>
  void look_at(int (*verb)(const Options&), const Options& options) {
    if (rows_.empty()) return;
    Screen::leave();
    verb(options);
    std::printf("\nPress Enter to go back.");
    std::fflush(stdout);
    for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar()) {
    }
    screen_.enter();
  }

  DaemonOptions options_;
  TopSource source_;
  TopData data_;
  TopView view_;
  std::vector<TopRow> rows_;
  TopRow chosen_;
  std::string to_confirm_;      // the verb that waits for a yes …
  std::string job_to_confirm_;  // … and its job
  bool is_filtering_ = false;
  TypedKeys keys_;
  Screen screen_;
};

}  // namespace

int show_top(const DaemonOptions& options) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return refuse("top", {Code::invalid, "needs a terminal; `kron status` and `kron jobs` are for scripts"}, false);
  }
  auto client = DaemonClient::open(options);
  if (!client) return refuse("top", client.error(), false);
  // One that nobody answers is told as such, and not on a screen of its own.
  if (const auto there = client->get(Target("status")); !there) return refuse("top", there.error(), false);
  return Top(options, *std::move(client)).run();
}

}  // namespace kron::cli
