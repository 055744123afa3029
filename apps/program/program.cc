#include "program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <unistd.h>

#include "completion.h"
#include "kron/base/result.h"

namespace kron::program {
namespace {

void secure_standard_descriptors() {
  int descriptor = 0;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

// Commands get these signals as the system makes them (runner/spawner.cc).
void make_signals_errors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int start(const char* name, int (*run)(int argc, char** argv), int argc, char** argv) {
  try {
    secure_standard_descriptors();
    make_signals_errors();
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: internal error: %s\n", name, error.what());
    return exit_status(Code::internal);
  }
}

std::optional<int> read_flags(CLI::App& app, int argc, char** argv) {
  std::string shell;
  app.add_option("--completion", shell, "A script that completes these flags in a shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_status(Code::unreadable);
  }
  if (shell.empty()) return std::nullopt;
  std::fputs(completion::script(shell, completion::program_of(app)).c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : exit_status(Code::io);
}

void add_choice(CLI::App& app, const char* name, const char* help, const std::vector<std::string>& words,
                std::function<void(std::size_t)> choose) {
  app.add_option_function<std::string>(
         name,
         [words, choose = std::move(choose)](const std::string& given) {
           const auto found = std::find(words.begin(), words.end(), given);
           if (found != words.end()) choose(static_cast<std::size_t>(found - words.begin()));
         },
         help)
      ->check(CLI::IsMember(words));
}

}  // namespace kron::program
