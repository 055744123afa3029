#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <optional>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "completion.h"
#include "kron/jobs/disk.h"
#include "kron/operator/options.h"
#include "kron/operator/service.h"

namespace kron::kronjobs {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  kron-operator\n"
    "  kron-operator --kubeconfig ~/.kube/config --namespace shop --metrics-listen 127.0.0.1:8080\n"
    "\n"
    "Several may run against one cluster: the one that holds the Lease works, the others watch and wait. The Lease is "
    "for economy; that no period runs twice does not depend on it.\n"
    "\n"
    "Signals: TERM and INT hand over: what was begun is finished, and the Lease is given back. A second one ends it at "
    "once.\n"
    "Exit status: 0 ended as asked, 2 wrong usage, unreadable input or an address that cannot be listened on, 3 the "
    "Lease could not be renewed, 70 an internal error.";

// Gives the flags to the parser (visit_flags).
class FlagReader {
 public:
  explicit FlagReader(CLI::App& app) : app_(app) {}

  void text(const char* name, std::string& value, const char* type, const char* help) {
    app_.add_option(name, value, help)->type_name(type);
  }
  void hidden(const char* name, std::string& value, const char* type, const char* help) {
    app_.add_option(name, value, help)->type_name(type)->group("");
  }
  void flag(const char* name, bool& value, const char* help) { app_.add_flag(name, value, help); }
  void number(const char* name, double& value, const char* help) { app_.add_option(name, value, help)->type_name("N"); }
  // One of a few words.
  template <class Value>
  void choice(const char* name, Value& value, const char* help,
              std::type_identity_t<std::vector<std::pair<std::string, Value>>> choices) {
    std::vector<std::string> words;
    for (const auto& [word, meaning] : choices) words.push_back(word);
    app_.add_option_function<std::string>(
            name,
            [&value, choices = std::move(choices)](const std::string& given) {
              for (const auto& [word, meaning] : choices) {
                if (word == given) value = meaning;
              }
            },
            help)
        ->check(CLI::IsMember(words));
  }

 private:
  CLI::App& app_;
};

std::optional<std::string> process_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

int end_with(const Error& error) {
  std::fprintf(stderr, "kron-operator: %s\n", error.message.c_str());
  const bool has_own_status = error.code == Code::unreachable || error.code == Code::internal;
  return exit_status(has_own_status ? error.code : Code::unreadable);
}

// Whoever starts us may have closed the standard descriptors: a socket of ours that took the number 2 would be written
// to as the log.
void secure_standard_descriptors() {
  int descriptor = 0;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) ::close(descriptor);
}

int run(int argc, char** argv) {
  secure_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log who goes away must not end us
  CLI::App app("Runs KronJobs in Kubernetes: Jobs on schedule, at most once per period.", "kron-operator");
  app.set_version_flag("--version", "kron-operator " KRON_VERSION);
  app.footer(kFooter);
  Options options;
  FlagReader flags(app);
  visit_flags(flags, options);
  std::string shell;
  // For the build, which installs what it prints.
  app.add_option("--completion", shell, "A script that completes these flags in a shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_status(Code::unreadable);
  }
  if (!shell.empty()) {
    std::fputs(completion::script(shell, completion::program_of(app)).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : exit_status(Code::io);
  }
  if (const Status checked = check(options); !checked) return end_with(checked.error());
  Result<kube::Connection> connection =
      find_connection(options, process_variable, [](const std::string& path) { return jobs::contents_of(path); });
  if (!connection) return end_with(connection.error());
  const RealClock clock;
  LineLog log(STDERR_FILENO, clock, options.log_format, options.log_level);
  Result<std::unique_ptr<Service>> service = Service::open(options, *std::move(connection), clock, log);
  const Status ended = service ? (*service)->run() : fail(service.error());
  log.finish();
  return ended ? 0 : end_with(ended.error());
}

}  // namespace
}  // namespace kron::kronjobs

int main(int argc, char** argv) {
  try {
    return kron::kronjobs::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kron-operator: internal error: %s\n", error.what());
    return kron::exit_status(kron::Code::internal);
  }
}
