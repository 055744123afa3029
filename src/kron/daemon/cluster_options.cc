#include "kron/daemon/cluster_options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sys/stat.h>
#include <utility>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/daemon/this_machine.h"

namespace kron::daemon {
namespace {

constexpr std::array kSettings = {
    ClusterSetting{"redis", "CRONKEN_REDIS_INFO", "URL",
                   "Take the jobs from this Redis, with all krond that do: redis://[USER:PASSWORD@]HOST:PORT[/DB], "
                   "rediss:// for TLS, redis+sentinel://. Everybody on this machine sees a flag: a password is better "
                   "in KRON_REDIS or in --redis-file"},
    ClusterSetting{"redis-file", "", "FILE", "File whose first line is that URL"},
    ClusterSetting{
        "cluster-compat", "", "WORD",
        "What is written where cronken 0.1.20 departs from its specification: seed or cronken; beside a real "
        "cronken it must be cronken (default: seed)"},
    ClusterSetting{"namespace", "CRONKEN_NAMESPACE", "NS", "What all keys begin with (default: {cronken})"},
    ClusterSetting{"host", "CRONKEN_HOST", "NAME", "Name of this host in the cluster (default: that of the machine)"},
    ClusterSetting{"default-timezone", "", "ZONE",
                   "Time zone of the cluster, if it has none yet (default: that of this machine)"},
    ClusterSetting{"claim-replicas", "", "N", "Replicas that must have a claim before its run starts (default: 0)"},
    ClusterSetting{"jobs-hmac-key", "", "FILE", "File with the key that job definitions are signed with"},
    ClusterSetting{"require-signed", "", "", "Refuse job definitions without a valid signature"},
    ClusterSetting{"job-shell", "CRONKEN_JOB_SHELL", "SHELL",
                   "Shell of the jobs' commands (default: /bin/sh; with cronken's dialect or variables /bin/bash)"},
    ClusterSetting{"cluster-env", "", "NAME,...", "Variables of krond's own environment that jobs get"},
    ClusterSetting{"heartbeat-cadence", "CRONKEN_HEARTBEAT_CADENCE", "DURATION",
                   "How often runs and hosts say that they live; after one and a half of it a run is frozen (default: "
                   "30s)"},
    ClusterSetting{"output-cadence", "CRONKEN_OUTPUT_CADENCE", "DURATION",
                   "How often output is sent to Redis (default: 1s)"},
    ClusterSetting{"output-buffer-size", "CRONKEN_OUTPUT_BUFFER_SIZE", "BYTES",
                   "Output of a run that is sent to Redis at a time, from 4096 to 1048576; unlike cronken's, what is "
                   "more is not dropped but sent next (default: 65536)"},
    ClusterSetting{"max-finalized-output-lines", "CRONKEN_MAX_FINALIZED_OUTPUT_LINES", "N",
                   "Last lines of output that a run's record keeps (default: 10)"},
    ClusterSetting{"perjob-results-limit", "CRONKEN_PERJOB_RESULTS_LIMIT", "N",
                   "Results that are kept of each job and status (default: 1000)"},
    ClusterSetting{"general-results-limit", "CRONKEN_GENERAL_RESULTS_LIMIT", "N",
                   "Results that are kept of all jobs and each status (default: 10000)"},
    ClusterSetting{"tasks", "", "WORD",
                   "Where the tasks are: redis, for all hosts together, or file, each host's own; jobs of the cluster "
                   "submit tasks only to Redis (default: redis)"},
    ClusterSetting{"outcomes-limit", "", "N", "Outcomes that are kept in Redis (default: 100000)"},
};

constexpr char kBash[] = "/bin/bash";
constexpr char kShell[] = "/bin/sh";
constexpr std::uint64_t kLeastBuffer = 4096;
constexpr std::uint64_t kMostBuffer = 1 << 20;

// A value, and where it stood.
struct Given {
  std::string text;
  std::string from;
  enum class Rank : std::uint8_t { flag, own, cronkens } rank = Rank::flag;
};

class Values {
 public:
  Values(const std::map<std::string, std::string>& flags, const Variables& variables) {
    for (const ClusterSetting& setting : kSettings) {
      const std::string name(setting.flag);
      if (const auto flag = flags.find(name); flag != flags.end()) {
        values_[name] = {flag->second, "--" + name};
        has_flag_ = name;
      } else if (const auto own = variable(variables, variable_of(setting))) {
        values_[name] = {*own, variable_of(setting), Given::Rank::own};
      } else if (const auto theirs = variable(variables, std::string(setting.cronken))) {
        values_[name] = {*theirs, std::string(setting.cronken), Given::Rank::cronkens};
      }
    }
  }

  const Given* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  const std::string& some_flag() const { return has_flag_; }
  bool has_cronkens() const {
    return std::ranges::any_of(values_, [](const auto& value) { return value.second.rank == Given::Rank::cronkens; });
  }

 private:
  static std::optional<std::string> variable(const Variables& variables, const std::string& name) {
    if (name.empty()) return std::nullopt;
    auto text = variables(name);
    if (text && text->empty()) return std::nullopt;
    return text;
  }

  std::map<std::string, Given> values_;
  std::string has_flag_;
};

Error wrong(const Given& given, const std::string& what) { return {Code::unreadable, given.from + ": " + what}; }

// cronken's server is told "host:port,host:port".
std::string url_of(const Given& given) {
  return given.rank == Given::Rank::cronkens ? "redis://" + given.text : given.text;
}

Result<std::string> first_line(const Given& given) {
  std::ifstream file(given.text);
  std::string line;
  if (!file || !std::getline(file, line) || trimmed(line).empty()) {
    return fail(wrong(given, "the file " + quoted(given.text) + " cannot be read, or its first line is empty"));
  }
  return std::string(trimmed(line));
}

Result<std::string> redis_of(const Values& values) {
  const Given* url = values.find("redis");
  const Given* file = values.find("redis-file");
  if (url != nullptr && file != nullptr && url->rank == file->rank) {
    return fail(wrong(*file, "give it or " + url->from + ", not both"));
  }
  if (file != nullptr && (url == nullptr || file->rank < url->rank)) return first_line(*file);
  if (url == nullptr) return std::string();
  return url_of(*url);
}

// Whole seconds of cronken, `30`, or a duration, `30s`.
Status read(const Given* given, Nanoseconds least, Nanoseconds& target) {
  if (given == nullptr) return {};
  const bool is_number =
      !given->text.empty() && std::ranges::all_of(given->text, [](unsigned char c) { return std::isdigit(c) != 0; });
  const auto duration = parse_duration(is_number ? given->text + "s" : given->text);
  if (!duration) return fail(wrong(*given, duration.error().message));
  if (*duration < least) return fail(wrong(*given, "it is less than " + duration_text(least)));
  target = *duration;
  return {};
}

template <class Number>
Status read(const Given* given, std::uint64_t least, Number& target) {
  if (given == nullptr) return {};
  std::uint64_t number = 0;
  const char* end = given->text.data() + given->text.size();
  const auto [stopped, error] = std::from_chars(given->text.data(), end, number);
  const std::uint64_t most = std::min<std::uint64_t>(std::numeric_limits<Number>::max(), 1'000'000'000);
  if (error != std::errc() || stopped != end || number < least || number > most) {
    return fail(wrong(*given, "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most)));
  }
  target = static_cast<Number>(number);
  return {};
}

Status read(const Given* given, bool& target) {
  if (given == nullptr) return {};
  for (const char* yes : {"1", "true", "yes", "on"}) target = target || given->text == yes;
  const bool is_no = given->text == "0" || given->text == "false" || given->text == "no" || given->text == "off";
  if (!target && !is_no) return fail(wrong(*given, "expected true or false"));
  return {};
}

bool has_control_characters(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

Status read_name(const Given* given, std::string& target) {
  if (given == nullptr) return {};
  if (given->text.empty() || given->text.size() > 255 || has_control_characters(given->text)) {
    return fail(wrong(*given, "expected 1 to 255 bytes without control characters"));
  }
  target = given->text;
  return {};
}

void read_text(const Given* given, std::string& target) {
  if (given != nullptr) target = given->text;
}

Status read_dialect(const Given* given, cluster::Dialect& target) {
  if (given == nullptr || given->text == "seed") return {};
  if (given->text != "cronken") return fail(wrong(*given, "expected seed or cronken"));
  target = cluster::Dialect::cronken;
  return {};
}

Status read_tasks(const Given* given, bool& in_files) {
  if (given == nullptr || given->text == "redis") return {};
  if (given->text != "file") return fail(wrong(*given, "expected redis or file"));
  in_files = true;
  return {};
}

void read_list(const Given* given, std::vector<std::string>& target) {
  if (given == nullptr) return;
  std::string_view rest = given->text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (const std::string_view name = trimmed(rest.substr(0, comma)); !name.empty()) target.emplace_back(name);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

// The first that fails speaks.
Status first_failure(std::initializer_list<Status> all) {
  for (const Status& one : all) {
    if (!one) return one;
  }
  return {};
}

Status read_all(const Values& values, ClusterOptions& options) {
  Nanoseconds heartbeat = options.heartbeat_cadence;
  read_text(values.find("default-timezone"), options.default_timezone);
  read_text(values.find("jobs-hmac-key"), options.hmac_key_file);
  read_list(values.find("cluster-env"), options.passed_variables);
  Status read_well = first_failure(
      {read_dialect(values.find("cluster-compat"), options.dialect),
       read_tasks(values.find("tasks"), options.tasks_in_files),
       read_name(values.find("namespace"), options.name_space), read_name(values.find("host"), options.host),
       read(values.find("claim-replicas"), 0, options.claim_replicas),
       read(values.find("require-signed"), options.require_signed),
       read_name(values.find("job-shell"), options.job_shell),
       read(values.find("heartbeat-cadence"), Seconds(1), heartbeat),
       read(values.find("output-cadence"), std::chrono::milliseconds(10), options.output_cadence),
       read(values.find("output-buffer-size"), 1, options.output_buffer_size),
       read(values.find("max-finalized-output-lines"), 0, options.max_finalized_output_lines),
       read(values.find("perjob-results-limit"), 1, options.perjob_results_limit),
       read(values.find("general-results-limit"), 1, options.general_results_limit),
       read(values.find("outcomes-limit"), 1, options.outcomes_limit)});
  options.heartbeat_cadence = std::chrono::ceil<Seconds>(heartbeat);
  options.output_buffer_size = std::clamp(options.output_buffer_size, kLeastBuffer, kMostBuffer);
  return read_well;
}

}  // namespace

std::span<const ClusterSetting> cluster_settings() { return kSettings; }

std::string variable_of(const ClusterSetting& setting) {
  std::string name = "KRON_";
  for (const char c : setting.flag) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

Variables process_variables() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

Result<std::optional<ClusterOptions>> cluster_options(const std::map<std::string, std::string>& flags,
                                                      const Variables& variables) {
  const Values values(flags, variables);
  Result<std::string> redis = redis_of(values);
  if (!redis) return fail(redis.error());
  if (redis->empty()) {
    if (values.some_flag().empty()) return std::optional<ClusterOptions>();
    return fail(Code::unreadable, "--" + values.some_flag() +
                                      " is about a cluster, and there is none: give --redis URL, or KRON_REDIS in the "
                                      "environment");
  }
  ClusterOptions options;
  options.redis = *std::move(redis);
  if (Status read = read_all(values, options); !read) return fail(read.error());
  if (options.host.empty()) options.host = machine_name();
  if (options.job_shell.empty()) {
    const bool like_cronken = options.dialect == cluster::Dialect::cronken || values.has_cronkens();
    options.job_shell = like_cronken ? kBash : kShell;
  }
  if (options.require_signed && options.hmac_key_file.empty()) {
    return fail(Code::unreadable, "--require-signed needs the key: give --jobs-hmac-key FILE");
  }
  return std::optional(std::move(options));
}

}  // namespace kron::daemon
