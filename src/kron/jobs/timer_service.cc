#include "kron/jobs/timer_service.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/jobs/words.h"

namespace kron::jobs {
namespace {

// What no job can say, with the value that means nothing. Empty, `no` and `infinity` mean nothing for all of them.
constexpr auto kOfUnitsOnly = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"NoNewPrivileges", ""},
    {"PrivateTmp", ""},
    {"PrivateDevices", ""},
    {"PrivateNetwork", ""},
    {"PrivateUsers", ""},
    {"PrivateMounts", ""},
    {"PrivateIPC", ""},
    {"ProtectSystem", ""},
    {"ProtectHome", ""},
    {"ProtectKernelTunables", ""},
    {"ProtectKernelModules", ""},
    {"ProtectKernelLogs", ""},
    {"ProtectControlGroups", ""},
    {"ProtectClock", ""},
    {"ProtectHostname", ""},
    {"ProtectProc", "default"},
    {"ProcSubset", "all"},
    {"RestrictRealtime", ""},
    {"RestrictSUIDSGID", ""},
    {"RestrictNamespaces", ""},
    {"RestrictAddressFamilies", "~"},
    {"MemoryDenyWriteExecute", ""},
    {"LockPersonality", ""},
    {"SystemCallFilter", "~"},
    {"SystemCallArchitectures", ""},
    {"DynamicUser", ""},
    {"ReadOnlyPaths", ""},
    {"ReadWritePaths", ""},
    {"InaccessiblePaths", ""},
    {"BindPaths", ""},
    {"BindReadOnlyPaths", ""},
    {"TemporaryFileSystem", ""},
    {"RootDirectory", ""},
    {"RootImage", ""},
    {"AmbientCapabilities", ""},
    {"IPAddressDeny", ""},
    {"DevicePolicy", "auto"},
    {"StateDirectory", ""},
    {"CacheDirectory", ""},
    {"RuntimeDirectory", ""},
    {"LogsDirectory", ""},
    {"ConfigurationDirectory", ""},
    {"LoadCredentialEncrypted", ""},
    {"SetCredential", ""},
    {"SupplementaryGroups", ""},
    {"PAMName", ""},
    {"MemoryHigh", ""},
    {"ExecCondition", ""},
    {"ExecStartPre", ""},
    {"ExecStartPost", ""},
    {"ExecStop", ""},
    {"ExecStopPost", ""},
    {"PassEnvironment", ""},
    {"SuccessExitStatus", ""},
    {"OnFailure", ""},
    {"OnSuccess", ""},
    {"Restart", ""},
    {"RemainAfterExit", ""},
    {"StandardInput", "null"},
});
constexpr std::string_view kUsualStop = "1min 30s";  // TimeoutStopUSec= where nobody said otherwise
constexpr std::string_view kUsualMask = "0022";

Node timer_text(std::string text) { return Node(std::move(text)); }
void put_timer_key(Node::Map& map, std::string_view key, std::string value) {
  map.push_back({std::string(key), {}, timer_text(std::move(value))});
}

bool is_unset(std::string_view value) {
  return value.empty() || value == "no" || value == "infinity" || value == "[not set]";
}

std::vector<std::string> lost_of(const ShownUnit& service) {
  std::vector<std::string> lost;
  for (const auto& [name, usual] : kOfUnitsOnly) {
    const std::string_view value = service.text(name);
    if (is_unset(value) || value == usual) continue;
    // Commands and lists of system calls are long; that they are there is what matters.
    const bool is_long = value.starts_with('{') || value.size() > 60;
    lost.push_back(std::string(name) + '=' + (is_long ? "…" : std::string(value)));
  }
  // Without a set of its own a service has all capabilities, and the list names them.
  const std::string_view capabilities = service.text("CapabilityBoundingSet");
  if (!capabilities.empty() && capabilities.find("cap_sys_admin") == std::string_view::npos) {
    lost.emplace_back("CapabilityBoundingSet=…");
  }
  const std::string_view type = service.text("Type");
  if (type != "oneshot" && type != "simple" && type != "exec" && type != "idle" && !type.empty()) {
    lost.push_back("Type=" + std::string(type));
  }
  return lost;
}

bool is_shell(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "sh" || name == "bash" || name == "dash" || name == "zsh" || name == "ksh";
}

// systemctl joins the words of a command by blanks, and does not say which blanks were inside of one. What has nothing
// special in it, and the script of a shell, can be told all the same; variables are expanded by systemd alone.
std::optional<std::string> command_line_of(std::string_view shown) {
  const std::size_t first = shown.find(" -c ");
  if (first != std::string_view::npos && is_shell(shown.substr(0, first))) {
    const std::string_view script = shown.substr(first + 4);
    if (script.find("$$") != std::string_view::npos || script.find("${") != std::string_view::npos) return std::nullopt;
    const std::array<std::string, 3> words{std::string(shown.substr(0, first)), "-c", std::string(script)};
    return quoted_words(words);
  }
  if (!shown.starts_with('/') || !is_plain_command(shown) || shown.find("  ") != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(shown);
}

void put_output(Node::Map& keys, std::vector<std::string>& lost, const ShownUnit& service, std::string_view property,
                std::string_view key) {
  const std::string_view value = service.text(property);
  constexpr std::string_view kAppend = "append:";
  if (value == "null") return put_timer_key(keys, key, "discard");
  if (value.starts_with(kAppend)) return put_timer_key(keys, key, std::string(value.substr(kAppend.size())));
  if (value.empty() || value == "journal" || value == "inherit") return;
  lost.push_back(std::string(property) + '=' + std::string(value));
}

void put_environment(Node::Map& keys, std::vector<std::string>& lost, const ShownUnit& service) {
  const auto environment = shown_environment(service.text("Environment"));
  if (!environment) {
    lost.emplace_back("Environment=…");
    return;
  }
  if (environment->empty()) return;
  Node::Map variables;
  for (const auto& [name, value] : *environment) put_timer_key(variables, name, value);
  keys.push_back({"env", {}, Node(std::move(variables))});
}

// Of a oneshot, the start is all there is.
void put_timeout(Node::Map& keys, const ShownUnit& service) {
  const bool is_oneshot = service.text("Type") == "oneshot";
  auto limit = shown_span(service.text("RuntimeMaxUSec"));
  if (!limit && is_oneshot) limit = shown_span(service.text("TimeoutStartUSec"));
  if (limit && limit->count() > 0) {
    put_timer_key(keys, "timeout", duration_text(std::chrono::ceil<Seconds>(*limit)));
  }
  const std::string_view stop = service.text("TimeoutStopUSec");
  const auto grace = shown_span(stop);
  if (grace && stop != kUsualStop) put_timer_key(keys, "grace", duration_text(std::chrono::ceil<Seconds>(*grace)));
}

// `/etc/default/x (ignore_errors=no)`, a line for each. A file that may be missing is one that a job cannot have.
void put_env_files(Node::Map& keys, std::vector<std::string>& lost, const ShownUnit& service) {
  constexpr std::string_view kStrict = " (ignore_errors=no)";
  Node::List files;
  for (const ShownProperty* shown : service.all("EnvironmentFiles")) {
    std::string_view path = shown->value;
    if (path.empty()) continue;
    if (!path.ends_with(kStrict) || !path.starts_with('/')) {
      lost.push_back("EnvironmentFiles=" + std::string(path.substr(0, 60)));
      continue;
    }
    path.remove_suffix(kStrict.size());
    files.push_back(timer_text(std::string(path)));
  }
  if (!files.empty()) keys.push_back({"env_file", {}, Node(std::move(files))});
}

// NAME:PATH, a line for each.
void put_credentials(Node::Map& keys, std::vector<std::string>& lost, const ShownUnit& service) {
  Node::Map credentials;
  for (const ShownProperty* shown : service.all("LoadCredential")) {
    const std::string_view value = shown->value;
    const std::size_t colon = std::min(value.find(':'), value.size());
    const std::string_view path = value.substr(std::min(colon + 1, value.size()));
    if (is_unset(value)) continue;
    if (is_credential_name(value.substr(0, colon)) && path.starts_with('/') && path.find(' ') == std::string::npos) {
      put_timer_key(credentials, value.substr(0, colon), std::string(path));
    } else {
      lost.push_back("LoadCredential=" + std::string(value.substr(0, 60)));
    }
  }
  if (!credentials.empty()) keys.push_back({"credential", {}, Node(std::move(credentials))});
}

// Every service has a TasksMax=; what nobody set is the machine's, which is above this on all but the smallest.
constexpr std::uint64_t kChosenTasks = 1000;

void put_run_limits(Node::Map& keys, std::vector<std::string>& lost, const ShownUnit& service) {
  const auto number_of = [&](std::string_view property) -> std::optional<std::uint64_t> {
    const std::string_view value = service.text(property);
    std::uint64_t number = 0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    // All bits set is how some versions say that there is none.
    const bool is_number = status == std::errc() && end == value.data() + value.size() && ~number != 0;
    return is_number ? std::optional(number) : std::nullopt;
  };
  if (const auto memory = number_of("MemoryMax")) {
    if (*memory >= kLeastMemoryMax) {
      put_timer_key(keys, "memory_max", size_text(*memory));
    } else {
      lost.push_back("MemoryMax=" + std::to_string(*memory));
    }
  }
  const auto tasks = number_of("TasksMax");
  if (tasks && *tasks > 0 && *tasks <= kChosenTasks) put_timer_key(keys, "tasks_max", std::to_string(*tasks));
  const std::string_view quota = service.text("CPUQuotaPerSecUSec");
  const auto share = shown_span(quota);
  if (!share) return;
  constexpr Nanoseconds kPercent = std::chrono::milliseconds(10);
  const std::int64_t percent = *share / kPercent;
  if (percent >= 1 && percent <= kMostCpuMax && *share % kPercent == Nanoseconds(0)) {
    put_timer_key(keys, "cpu_max", std::to_string(percent) + "%");
  } else {
    lost.push_back("CPUQuotaPerSecUSec=" + std::string(quota));
  }
}

void put_process(Node::Map& keys, std::vector<std::string>& lost, const ShownUnit& service) {
  for (const auto& [property, key] : {std::pair{"User", "user"}, std::pair{"Group", "group"}}) {
    if (const std::string_view value = service.text(property); !value.empty())
      put_timer_key(keys, key, std::string(value));
  }
  std::string_view directory = service.text("WorkingDirectory");
  while (directory.starts_with('-') || directory.starts_with('!')) directory.remove_prefix(1);
  put_timer_key(keys, "cwd", directory.empty() ? "/" : std::string(directory));
  put_environment(keys, lost, service);
  put_env_files(keys, lost, service);
  put_credentials(keys, lost, service);
  put_run_limits(keys, lost, service);
  put_timeout(keys, service);
  put_output(keys, lost, service, "StandardOutput", "stdout");
  put_output(keys, lost, service, "StandardError", "stderr");
  const std::string_view mask = service.text("UMask");
  if (!mask.empty() && mask != kUsualMask) put_timer_key(keys, "umask", std::string(mask));
  const std::string_view nice = service.text("Nice");
  if (!is_unset(nice) && nice != "0") put_timer_key(keys, "nice", std::string(nice));
}

}  // namespace

ServiceKeys keys_of_service(const ShownUnit& service, KeepUnit keep) {
  ServiceKeys result;
  result.lost = lost_of(service);
  Node::Map keys;
  const std::vector<const ShownProperty*> commands = service.all("ExecStart");
  const auto shown = commands.size() == 1 ? shown_command(commands.front()->value) : std::nullopt;
  const auto command = shown ? command_line_of(*shown) : std::nullopt;
  if (command) put_timer_key(keys, "command", *command);
  put_process(keys, result.lost, service);
  if (commands.size() > 1) result.lost.insert(result.lost.begin(), "more than one ExecStart=");
  if (commands.empty()) result.lost.insert(result.lost.begin(), "no ExecStart=");
  if (commands.size() == 1 && !command)
    result.lost.emplace_back("words of ExecStart= that systemctl show cannot tell apart");
  result.is_kept = keep == KeepUnit::always || (keep == KeepUnit::as_needed && !result.lost.empty());
  if (result.is_kept) {
    put_timer_key(result.keys, "command", "systemctl start --wait " + std::string(service.text("Id")));
    return result;
  }
  if (!command) {
    result.problem = commands.size() == 1
                         ? "the words of its command cannot be told apart in what systemctl shows"
                         : "its service has " + std::string(commands.empty() ? "no command" : "several commands");
  }
  result.keys = std::move(keys);
  return result;
}

}  // namespace kron::jobs
