#include "doctor.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <unistd.h>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/env/places.h"
#include "kron/json/writer.h"
#include "kron/runner/find_kron_exec.h"
#include "lines.h"
#include "terminal.h"

namespace kron::cli {
namespace {

constexpr std::array<std::string_view, 3> kWords{"ok", "warning", "problem"};
constexpr std::array<std::string_view, 3> kColours{"\x1b[1;32m", "\x1b[1;33m", "\x1b[1;31m"};

std::size_t index_of(Verdict verdict) { return static_cast<std::size_t>(verdict); }

void print_text(const Findings& findings) {
  const bool coloured = wants_colour(STDOUT_FILENO);
  for (const Finding& finding : findings) {
    const std::string word(kWords[index_of(finding.verdict)]);
    const std::string shown = coloured ? std::string(kColours[index_of(finding.verdict)]) + word + "\x1b[0m" : word;
    std::printf("%s%s %-7s %s\n", shown.c_str(), std::string(8 - word.size(), ' ').c_str(), finding.about.c_str(),
                harmless(finding.what).c_str());
    if (!finding.cure.empty())
      std::printf("%s", for_locale("                 → " + harmless(finding.cure) + "\n").c_str());
  }
}

void print_json(const Findings& findings, std::size_t problems) {
  JsonWriter json;
  json.begin_map().key("problems").integer(static_cast<std::int64_t>(problems)).key("findings").begin_list();
  for (const Finding& finding : findings) {
    json.begin_map().member("verdict", kWords[index_of(finding.verdict)]).member("about", finding.about);
    json.member("what", finding.what);
    if (!finding.cure.empty()) json.member("cure", finding.cure);
    json.end_map();
  }
  std::printf("%s\n", json.end_list().end_map().take().c_str());
}

// Returns the exit status.
int tell(const Findings& findings, bool json) {
  const auto problems = static_cast<std::size_t>(std::ranges::count(findings, Verdict::problem, &Finding::verdict));
  if (json) {
    print_json(findings, problems);
  } else {
    print_text(findings);
  }
  return problems == 0 ? 0 : exit_status(Code::invalid);
}

Result<std::string> state_directory_of(const DoctorOptions& options, const DaemonFacts& facts) {
  if (!options.state_dir.empty()) return absolute_path(options.state_dir);
  if (facts.answers) return facts.state_directory;
  return default_state_directory();
}

Result<std::vector<std::string>> config_of(const DoctorOptions& options, const DaemonFacts& facts) {
  if (!options.config.empty()) return options.config;
  if (facts.answers) return facts.config;
  auto path = default_config();
  if (!path) return fail(path.error());
  return std::vector{*std::move(path)};
}

}  // namespace

void examine_helper(const std::string& given, Findings& findings) {
  const auto helper = runner::find_kron_exec(given);
  if (helper) {
    findings.push_back({Verdict::ok, "helper", *helper});
  } else {
    findings.push_back({Verdict::problem, "helper", helper.error().message,
                        "install it beside krond, or name it with krond's --helper: no job can run without it"});
  }
}

int examine_host(const DoctorOptions& options) {
  const Instant now = present();
  const auto place = krond_place(options);
  if (!place) return refuse("doctor", place.error(), options.json);
  Findings findings;
  if (place->is_remote()) {
    examine_remote(*place, present, findings);
    return tell(findings, options.json);
  }
  const DaemonFacts facts = examine_socket(place->socket_path, findings);
  const auto state = state_directory_of(options, facts);
  if (!state) return refuse("doctor", state.error(), options.json);
  ConfiguredJobs jobs;
  if (!facts.in_cluster) {
    const auto config = config_of(options, facts);
    if (!config) return refuse("doctor", config.error(), options.json);
    jobs = examine_config(*config, now, findings);
  }
  examine_state(*state, jobs, now + facts.clock_offset, findings);
  examine_clock(now, findings);
  examine_zones(findings);
  examine_helper(options.helper, findings);
  return tell(findings, options.json);
}

}  // namespace kron::cli
