#include "lines.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "kron/json/decide_request.h"

namespace kron::cli {
namespace {

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Cuts what is read into lines and gathers the answers.
class Conversation {
 public:
  explicit Conversation(const std::function<Result<std::string>(std::string_view)>& answer) : answer_(answer) {}

  int run() {
    std::vector<char> chunk(std::size_t{1} << 16);
    for (;;) {
      if (!flush()) return failed("cannot write standard output");
      const ssize_t size = ::read(STDIN_FILENO, chunk.data(), chunk.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return failed("cannot read standard input");
      if (size == 0) break;
      take({chunk.data(), static_cast<std::size_t>(size)});
    }
    if (in_line_) end_line();
    if (!flush()) return failed("cannot write standard output");
    return all_good_ ? 0 : exit_status(Code::invalid);
  }

 private:
  void take(std::string_view text) {
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      const std::string_view part = text.substr(0, newline);
      in_line_ = true;
      // Of a line that is too long only as much is kept as shows it.
      line_ += part.substr(0, kLongestLine + 1 - line_.size());
      if (newline == std::string_view::npos) return;
      end_line();
      text.remove_prefix(newline + 1);
    }
  }

  void end_line() {
    Result<std::string> answer =
        line_.size() > kLongestLine
            ? Result<std::string>(
                  fail(Code::invalid, "the line is longer than " + std::to_string(kLongestLine) + " bytes"))
            : answer_(line_);
    all_good_ = all_good_ && answer.has_value();
    out_ += answer ? *answer : error_json(answer.error());
    out_ += '\n';
    line_.clear();
    in_line_ = false;
  }

  bool flush() {
    const bool written = write_all(out_);
    out_.clear();
    return written;
  }

  static int failed(const char* what) {
    std::fprintf(stderr, "kron: %s: %s\n", what, std::strerror(errno));
    return exit_status(Code::io);
  }

  const std::function<Result<std::string>(std::string_view)>& answer_;
  std::string line_;
  bool in_line_ = false;
  std::string out_;
  bool all_good_ = true;
};

}  // namespace

int answer_lines(const std::function<Result<std::string>(std::string_view)>& answer) {
  return Conversation(answer).run();
}

int complain(std::string_view verb, const Error& error) {
  std::string text = "kron " + std::string(verb) + ": ";
  if (error.column > 0) text += "column " + std::to_string(error.column) + ": ";
  if (!error.field.empty() && !error.message.starts_with(error.field)) text += error.field + ": ";
  std::fprintf(stderr, "%s%s\n", text.c_str(), error.message.c_str());
  return exit_status(error.code);
}

int refuse(std::string_view verb, const Error& error, bool json) {
  if (!json) return complain(verb, error);
  std::printf("%s\n", error_json(error).c_str());
  return exit_status(error.code);
}

}  // namespace kron::cli
