#include "worker_commands.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <set>

#include "kron/base/text.h"
#include "kron/queue/task_request.h"
#include "kron/runner/cgroups.h"
#include "worker_output.h"

namespace kron::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPlaces[] = "tasks";
constexpr char kStage[] = "stage";
constexpr char kFollowUps[] = "follow-ups";
constexpr char kProcess[] = "process";
constexpr int kPatience = 10'000;  // milliseconds, for the commands of an earlier worker to be gone

// What a variable of ours means is ours to say, not that of the environment the worker was started in.
std::vector<std::pair<std::string, std::string>> inherited_environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.starts_with("KRON_")) continue;
    variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Error place_failed(const std::string& path, const std::error_code& error) {
  return {Code::io, "cannot make " + path + ": " + error.message()};
}

Status write_text(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return fail(place_failed(path, {errno, std::generic_category()}));
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && is_whole) return {};
  return fail(place_failed(path, {errno, std::generic_category()}));
}

// Not durable and need not be: after a crash of the machine there is no process either.
Status note_process(const std::string& place, const ProcessIdentity& process) {
  return write_text(place + "/" + kProcess, std::to_string(process.pid) + " " + std::to_string(process.start_time) +
                                                " " + process.boot_id + "\n");
}

std::optional<ProcessIdentity> noted_process(const fs::path& place) {
  std::FILE* file = std::fopen((place / kProcess).c_str(), "re");
  if (file == nullptr) return std::nullopt;
  ProcessIdentity process;
  unsigned long long start = 0;
  char boot_id[64] = "";
  const int count = std::fscanf(file, "%d %llu %63s", &process.pid, &start, boot_id);
  std::fclose(file);
  process.start_time = start;
  process.boot_id = boot_id;
  return count == 3 ? std::optional(process) : std::nullopt;
}

}  // namespace

Commands::Commands(const Clock& clock, std::string directory, CommandOptions options)
    : clock_(clock),
      directory_(std::move(directory)),
      options_(std::move(options)),
      environment_(inherited_environment()) {
  std::error_code error;
  working_directory_ = fs::current_path(error).string();
}

Result<std::unique_ptr<Commands>> Commands::open(const std::string& directory, const std::string& helper,
                                                 const Clock& clock, CommandOptions options) {
  std::unique_ptr<Commands> commands(new Commands(clock, directory, std::move(options)));
  auto root = open_or_make_directory(commands->files_, directory, 0700);
  if (!root) return fail(root.error());
  commands->root_ = *std::move(root);
  auto lock = commands->root_->lock("lock");
  if (!lock) return fail(lock.error());
  commands->lock_ = *std::move(lock);
  std::error_code error;
  fs::create_directory(directory + "/" + kPlaces, error);
  if (error) return fail(place_failed(directory + "/" + kPlaces, error));
  auto runner = runner::RealProcessRunner::create(
      {.helper = helper, .state_directory = directory, .cgroup = runner::find_own_cgroup()}, clock);
  if (!runner) return fail(runner.error());
  commands->runner_ = *std::move(runner);
  if (Status ended = commands->end_leftovers(); !ended) return fail(ended.error());
  return commands;
}

Status Commands::end_leftovers() {
  std::error_code error;
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_ + "/" + kPlaces, error)) {
    const std::string& name = *names.insert(entry.path().filename()).first;
    const auto process = noted_process(entry.path());
    if (process && !runner_->adopt(name, *process)) runner_->kill(name);
  }
  while (runner_->alive() > 0) {
    pollfd polled{runner_->descriptor(), POLLIN, 0};
    if (::poll(&polled, 1, kPatience) == 0) {
      return fail(Code::conflict, "commands of an earlier worker do not end though they were killed; see `ps`");
    }
    static_cast<void>(runner_->drain_exits());
  }
  // One that waited at its gate when its worker died has no place, but may have left word that it never ran.
  const Status listed = runner_->files().list([&](std::string_view name) { names.emplace(name); });
  if (!listed) return listed;
  for (const std::string& name : names) {
    static_cast<void>(runner_->files().remove(name));
    fs::remove_all(directory_ + "/" + kPlaces + "/" + name, error);
  }
  return {};
}

std::string Commands::place_of(std::uint64_t token) const {
  return directory_ + "/" + kPlaces + "/" + std::to_string(token);
}

RunSpec Commands::spec_of(const Lease& lease) const {
  RunSpec spec{.run_id = std::to_string(lease.key.token), .command = options_.command};
  const std::string place = place_of(lease.key.token);
  spec.environment = environment_;
  spec.environment.insert(spec.environment.end(), {{"KRON_TASK_ID", lease.task_id},
                                                   {"KRON_TASK_TYPE", lease.type},
                                                   {"KRON_EXECUTION_ID", lease.key.exec_id},
                                                   {"KRON_LEASE_TOKEN", std::to_string(lease.key.token)},
                                                   {"KRON_ATTEMPT", std::to_string(lease.attempt)},
                                                   {"KRON_STAGE_DIR", place + "/" + kStage},
                                                   {"KRON_FOLLOW_UPS", place + "/" + kFollowUps}});
  spec.directory = working_directory_;
  spec.input = lease.data;
  spec.err.kind = OutputKind::inherit;
  // So much that what is too long can be told from what just fits.
  spec.capture = 2 * kMostResultBytes;
  if (const auto timeout = lease.timeout ? lease.timeout : options_.timeout) spec.timeout = *timeout;
  spec.grace = options_.grace;
  return spec;
}

Status Commands::start(const Lease& lease) {
  const std::string place = place_of(lease.key.token);
  std::error_code error;
  fs::create_directories(place + "/" + kStage, error);
  if (error) return fail(place_failed(place, error));
  const RunSpec spec = spec_of(lease);
  const auto process = runner_->start(spec);
  Status noted = process ? note_process(place, *process) : Status(fail(process.error()));
  // If we die here, the gate stays shut and nothing runs; once it is open, the next worker knows whom to end.
  if (noted) noted = runner_->open_gate(spec.run_id);
  if (noted) return {};
  if (process) runner_->abandon(spec.run_id);
  forget(lease.key.token);
  return noted;
}

void Commands::terminate(std::uint64_t token) { runner_->terminate(std::to_string(token)); }

std::vector<EndedCommand> Commands::drain() {
  std::vector<EndedCommand> ended;
  for (RunExit& exit : runner_->drain_exits()) {
    ended.push_back({std::strtoull(exit.run_id.c_str(), nullptr, 10), exit.code, std::move(exit.reason)});
  }
  return ended;
}

Result<std::string> Commands::result_of(std::uint64_t token) {
  const auto directory = files_.open_directory(runner_->files().path() + "/" + std::to_string(token));
  if (!directory) return fail(directory.error());
  auto output = (*directory)->read("output", kMostResultBytes + 1);
  if (!output && output.error().code == Code::not_found) return std::string();
  if (!output && output.error().code == Code::invalid) return std::string(kMostResultBytes + 1, ' ');
  if (!output) return fail(output.error());
  if (output->bytes.ends_with('\n')) output->bytes.pop_back();
  return std::move(output->bytes);
}

Result<Output> Commands::output_of(std::uint64_t token) {
  auto result = result_of(token);
  if (!result) return fail(result.error());
  if (Status good = check_result(*result); !good) return fail(good.error());
  Output output{*std::move(result), {}, {}};
  const auto place = files_.open_directory(place_of(token));
  if (!place) return fail(place.error());
  auto follow_ups = read_follow_ups(**place, kFollowUps);
  if (!follow_ups) return fail(follow_ups.error());
  output.follow_ups = *std::move(follow_ups);
  const auto stage = (*place)->open_directory(kStage);
  if (!stage) return fail(Code::invalid, "the directory KRON_STAGE_DIR is no longer there");
  auto files = read_staged_files(**stage);
  if (!files) return fail(files.error());
  output.files = *std::move(files);
  return output;
}

void Commands::forget(std::uint64_t token) {
  // Best effort: what stays is removed by the next worker.
  static_cast<void>(runner_->files().remove(std::to_string(token)));
  std::error_code error;
  fs::remove_all(place_of(token), error);
}

}  // namespace kron::cli
