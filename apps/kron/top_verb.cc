#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "lines.h"
#include "operate_verbs.h"
#include "terminal.h"
#include "top_data.h"

namespace kron::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // the other screen, without a cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr int kRefreshMilliseconds = 1000;

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

// One key within that time; 0: none. What follows an escape (an arrow) is taken with it, as j or k.
char key_within(int milliseconds) {
  pollfd polled{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&polled, 1, milliseconds) <= 0) return '\0';
  std::array<char, 8> keys{};
  const ssize_t count = ::read(STDIN_FILENO, keys.data(), keys.size());
  if (count <= 0) return (polled.revents & POLLHUP) != 0 ? 'q' : '\0';
  const std::string_view text(keys.data(), static_cast<std::size_t>(count));
  if (text == "\x1b[A" || text == "\x1bOA") return 'k';
  if (text == "\x1b[B" || text == "\x1bOB") return 'j';
  return text.front() == '\x1b' && text.size() > 1 ? '\0' : text.front();
}

class Top {
 public:
  Top(const DaemonOptions& options, DaemonClient client) : options_(options), source_(std::move(client)) {
    view_.has_colour = wants_colour(STDOUT_FILENO);
    view_.has_utf8 = for_locale("█") == "█";
  }

  int run() {
    const Screen screen;
    while (paint_and_obey(screen, source_.look())) {
    }
    return 0;
  }

 private:
  // Until it is time to ask again. False: the reader has seen enough.
  bool paint_and_obey(const Screen& screen, const TopData& data) {
    rows_ = top_rows(data, view_);
    view_.selected = rows_.empty() ? 0 : std::min(view_.selected, rows_.size() - 1);
    const Size size = size_of_terminal();
    Screen::show(top_frame(data, view_, size.width, size.height));
    const char key = key_within(kRefreshMilliseconds);
    if (key == '\0') return true;
    if (is_filtering_) return edit_filter(key);
    return obey(screen, key);
  }

  bool edit_filter(char key) {
    if (key == '\r' || key == '\n') {
      is_filtering_ = false;
    } else if (key == '\x1b') {
      is_filtering_ = false;
      view_.filter.clear();
    } else if (key == '\x7f' || key == '\b') {
      if (!view_.filter.empty()) view_.filter.pop_back();
    } else if (key >= ' ' && view_.filter.size() < 100) {
      view_.filter += key;
    }
    view_.prompt = is_filtering_ ? "filter: " + view_.filter : "";
    return true;
  }

  bool obey(const Screen& screen, char key) {
    const std::string asked_for = std::exchange(to_confirm_, "");
    view_.prompt.clear();
    if (!asked_for.empty()) {
      if (key == 'y') act(screen, asked_for);
      return true;
    }
    if (key == 'j') ++view_.selected;
    if (key == 'k' && view_.selected > 0) --view_.selected;
    if (key == '\r' || key == '\n') act(screen, "show");
    if (key == 'l') act(screen, "logs");
    if (key == 'r') confirm("run");
    if (key == 'p') confirm("pause");
    if (key == '/') {
      is_filtering_ = true;
      view_.prompt = "filter: " + view_.filter;
    }
    return key != 'q';
  }

  void confirm(const std::string& verb) {
    if (rows_.empty()) return;
    to_confirm_ = verb;
    view_.prompt = verb + " " + rows_[view_.selected].job + "? y: yes, any other key: no";
  }

  // On the screen that was there before, as the verb itself shows it.
  void act(const Screen& screen, const std::string& verb) {
    if (rows_.empty()) return;
    const TopRow& row = rows_[view_.selected];
    const std::string& name = row.run_id.empty() ? row.job : row.run_id;
    Screen::leave();
    if (verb == "show") show_one({options_, name});
    if (verb == "logs") show_output({{options_, name}, false, size_of_terminal().height});
    if (verb == "run") trigger_job({{options_, row.job}, {}, {}, false, {}});
    if (verb == "pause") pause_jobs({options_, {row.job}, {}, false, {}, {}, {}, false});
    std::printf("\nPress Enter to go back.");
    std::fflush(stdout);
    for (int c = std::getchar(); c != '\n' && c != EOF; c = std::getchar()) {
    }
    screen.enter();
  }

  DaemonOptions options_;
  TopSource source_;
  TopView view_;
  std::vector<TopRow> rows_;
  std::string to_confirm_;  // the verb that waits for a yes
  bool is_filtering_ = false;
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
