#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include "files.h"
#include "flag_values.h"
#include "kron/base/duration.h"
#include "kron/forecast/load_profile.h"
#include "kron/forecast/load_text.h"
#include "krond_jobs.h"
#include "lines.h"
#include "load_page.h"
#include "progress_line.h"
#include "terminal.h"
#include "verbs.h"

namespace kron::cli {
namespace {

Result<LoadQuestion> question_of(const SimulateOptions& options) {
  LoadQuestion question;
  const Result<Instant> from = time_flag(options.from, "--from");
  if (!from) return fail(from.error());
  const Result<Seconds> length = parse_whole_seconds(options.length);
  if (!length) return about_flag(length.error(), "--for");
  const Result<Seconds> step = parse_whole_seconds(options.step);
  if (!step) return about_flag(step.error(), "--step");
  question.length = *length;
  question.step = *step;
  // The present begins on the whole minute, so that steps begin where clocks show them.
  question.from = options.from.empty() ? std::chrono::floor<std::chrono::minutes>(*from) : *from;
  return question;
}

std::size_t terminal_width() {
  constexpr std::size_t kUsual = 80;
  constexpr std::size_t kMost = 1000;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long number = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return number > 0 ? std::min(static_cast<std::size_t>(number), kMost) : kUsual;
}

Result<LoadProfile> profile_of(const jobs::LoadedJobs& loaded, const LoadQuestion& question, bool with_progress) {
  ProgressLine line("kron simulate", with_progress);
  const LoadProgress progress = [&line](std::size_t done, std::size_t total) {
    line.show(std::to_string(done * 100 / total) + " %");
  };
  Result<LoadProfile> profile = load_profile(loaded.definitions, question, with_progress ? progress : LoadProgress());
  if (!profile) return about_flag(profile.error(), "--" + profile.error().field);
  return profile;
}

std::string shown(const LoadProfile& profile, std::span<const jobs::JobDefinition> jobs, const std::string& format) {
  if (format == "text") return for_locale(load_text(profile, jobs, terminal_width()));
  const std::string json = load_profile_json(profile, jobs);
  return format == "json" ? json + "\n" : load_page(json);
}

// What krond looks at for others has a limit; whoever has the files needs none.
Error with_files_as_cure(Error error) {
  if (error.code == Code::invalid && error.field == "for") {
    error.message += "; name the job files: `kron simulate PATH…` counts them here";
  }
  return error;
}

int simulate_krond(const SimulateOptions& options, const LoadQuestion& question) {
  const Result<ToldLoad> told = load_of_krond(options.krond, question);
  if (!told) return complain("simulate", with_files_as_cure(told.error()));
  std::fputs(shown(told->profile, told->jobs, options.format).c_str(), stdout);
  return 0;
}

}  // namespace

int simulate(const SimulateOptions& options) {
  const Result<LoadQuestion> question = question_of(options);
  if (!question) return complain("simulate", question.error());
  if (options.files.paths.empty()) return simulate_krond(options, *question);
  ZoneDatabase zones;
  const ReadJobs read = read_jobs(as_read_at(options.files, question->from), zones);
  show_errors(read);
  const Result<LoadProfile> profile =
      profile_of(read.jobs, *question, options.progress || ::isatty(STDERR_FILENO) == 1);
  if (!profile) return complain("simulate", profile.error());
  std::fputs(shown(*profile, read.jobs.definitions, options.format).c_str(), stdout);
  return read.status();
}

}  // namespace kron::cli
