#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "kron/jobs/disk.h"
#include "kron/operator/options.h"
#include "kron/operator/service.h"
#include "program.h"
#include "version.h"

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
  template <class Value>
  void choice(const char* name, Value& value, const char* help,
              std::type_identity_t<std::vector<std::pair<std::string, Value>>> choices) {
    program::add_choice(app_, name, value, help, std::move(choices));
  }

 private:
  CLI::App& app_;
};

std::optional<std::string> process_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

// A file that is not there is told from one that cannot be read: KUBECONFIG may name some that are not.
Result<std::string> text_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return fail(Code::not_found, "it is not there");
  return jobs::contents_of(path);
}

int end_with(const Error& error) {
  std::fprintf(stderr, "kron-operator: %s\n", error.message.c_str());
  const bool has_own_status = error.code == Code::unreachable || error.code == Code::internal;
  return exit_status(has_own_status ? error.code : Code::unreadable);
}

int run(int argc, char** argv) {
  CLI::App app("Runs KronJobs in Kubernetes: Jobs on schedule, at most once per period.", "kron-operator");
  app.set_version_flag("--version", std::string("kron-operator ") + told_version());
  app.footer(kFooter);
  Options options;
  FlagReader flags(app);
  visit_flags(flags, options);
  if (const std::optional<int> status = program::read_flags(app, argc, argv)) return *status;
  if (const Status checked = check(options); !checked) return end_with(checked.error());
  Result<kube::Connection> connection = find_connection(options, process_variable, text_of);
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

int main(int argc, char** argv) { return kron::program::start("kron-operator", kron::kronjobs::run, argc, argv); }
