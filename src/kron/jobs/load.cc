#include "kron/jobs/load.h"

#include <algorithm>
#include <map>

#include "kron/base/hash_index.h"
#include "kron/base/text.h"
#include "kron/jobs/calendar_files.h"
#include "kron/jobs/cronken.h"
#include "kron/jobs/kron_line.h"
#include "kron/jobs/logical_lines.h"
#include "kron/jobs/pools.h"
#include "kron/jobs/yaml.h"

namespace kron::jobs {
namespace {

bool is_below_cron_d(std::string_view path) { return ("/" + std::string(path)).find("/cron.d/") != std::string::npos; }

// cron reads only files of such names in cron.d, so that package managers' and editors' leftovers do not run.
bool is_cron_d_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

void add(LoadedJobs& all, LoadedJobs part) {
  if (all.definitions.empty()) {
    all.definitions = std::move(part.definitions);  // one large file is the usual way to have many jobs
  } else {
    std::ranges::move(part.definitions, std::back_inserter(all.definitions));
  }
  std::ranges::move(part.problems, std::back_inserter(all.problems));
  std::ranges::move(part.refused, std::back_inserter(all.refused));
  std::ranges::move(part.pools, std::back_inserter(all.pools));
}

std::vector<JobDefinition> read_documents(std::string_view text, ModelContext& context, Report& report) {
  std::vector<JobDefinition> definitions;
  for (const Node& document : parse_yaml(text, report)) {
    std::ranges::move(read_job_document(document, context, report), std::back_inserter(definitions));
  }
  return definitions;
}

std::vector<JobDefinition> read_json_document(std::string_view text, ModelContext& context, Report& report) {
  const std::vector<Node> documents = parse_yaml(text, report);
  if (documents.empty() || report.error_count() != 0) return {};
  const Node* jobs = documents.front().find("jobs");
  if (jobs != nullptr && jobs->as<Node::List>() != nullptr) {
    context.spelling = Spelling::yaml;
    return read_job_document(documents.front(), context, report);
  }
  context.calendar_files = nullptr;  // as in Redis, where there are none
  return read_cronken_document(documents.front(), context, report);
}

// What pools its jobs have is left open: another file may say it.
LoadedJobs read_text(const std::string& file, std::string_view text, Spelling spelling, ZoneDatabase& zones,
                     const LoadOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Report report(file, text);
  ModelContext context{.zones = zones, .spelling = spelling, .file = std::make_shared<const std::string>(file)};
  context.calendar_files = options.calendar_files;
  LoadedJobs jobs;
  switch (spelling) {
    case Spelling::kron:
      jobs.definitions = read_kron_lines(text, context, report);
      break;
    case Spelling::yaml:
      jobs.definitions = read_documents(text, context, report);
      break;
    case Spelling::crontab: {
      CrontabSource source = crontab_source(file);
      source.form = options.form.value_or(source.form);
      context.zone = options.local_zone;
      if (options.host) context.zone = options.host->zone;
      if (options.host && !options.host->is_known()) context.no_zone = {options.host->problem, options.host->cure};
      context.is_only_a_user = options.is_only_a_user;
      jobs.definitions = read_crontab(text, source, context, report);
      break;
    }
    case Spelling::cronken:
      context.zone = options.local_zone;
      context.is_clustered = options.is_clustered;
      jobs.definitions = read_json_document(text, context, report);
      break;
  }
  jobs.problems = report.take();
  jobs.refused = std::move(context.refused);
  jobs.pools = std::move(context.pools);
  return jobs;
}

class Loader {
 public:
  Loader(const FileAccess& files, ZoneDatabase& zones, const LoadOptions& options)
      : files_(files), zones_(zones), options_(options) {
    if (!options.now) return;
    calendar_files_.emplace(files, *options.now);
    options_.calendar_files = &*calendar_files_;
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  void load(const std::string& path);
  std::vector<std::string> calendar_files() const {
    return calendar_files_ ? calendar_files_->paths() : std::vector<std::string>();
  }
  LoadedJobs jobs;

 private:
  void problem(Severity severity, const std::string& path, std::string message, std::string cure = {}) {
    jobs.problems.push_back({severity, path, {}, {}, std::move(message), std::move(cure), {}, 0});
  }
  void load_directory(const std::string& path);
  void load_file(const std::string& path, const FileAccess::Facts& facts, bool was_named);

  const FileAccess& files_;
  ZoneDatabase& zones_;
  LoadOptions options_;
  std::optional<CalendarFiles> calendar_files_;
};

void Loader::load(const std::string& path) {
  const Result<FileAccess::Facts> facts = files_.look(path);
  if (!facts) return problem(Severity::error, path, facts.error().message);
  if (facts->is_directory) {
    load_directory(path);
  } else {
    load_file(path, *facts, true);
  }
}

void Loader::load_directory(const std::string& path) {
  Result<std::vector<std::string>> names = files_.list(path);
  if (!names) return problem(Severity::error, path, names.error().message);
  std::ranges::sort(*names);
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;
    const std::string file = path.ends_with('/') ? path + name : path + "/" + name;
    const Result<FileAccess::Facts> facts = files_.look(file);
    if (!facts) {
      problem(Severity::error, file, facts.error().message);
    } else if (facts->is_directory) {
      problem(Severity::note, file, "directories below a directory are not read", "name it on its own");
    } else {
      load_file(file, *facts, false);
    }
  }
}

void Loader::load_file(const std::string& path, const FileAccess::Facts& facts, bool was_named) {
  const std::optional<Spelling> spelling = options_.source ? options_.source : spelling_of(path);
  if (!spelling && path.ends_with(".ics")) {
    // Beside the job files is where calendars are.
    if (!was_named) return;
    return problem(Severity::error, path, "skipped: this is a calendar, not a job file",
                   "name it in a job file, as calendars: {holidays: {file: …}}");
  }
  if (!spelling) {
    return problem(was_named ? Severity::error : Severity::note, path, "skipped: unknown file type",
                   "end it in .kron, .yaml or .json, or give --source");
  }
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (!was_named && *spelling == Spelling::crontab && is_below_cron_d(path) && !is_cron_d_name(name)) {
    return problem(Severity::note, path, "not read: cron passes by files with such a name",
                   "use letters, digits, _ and - only");
  }
  const Result<std::string> text = files_.read(path);
  if (!text) return problem(Severity::error, path, text.error().message);
  if (facts.others_can_write) {
    problem(Severity::warning, path, "everybody can write this file, and so decide what runs",
            "chmod o-w it; krond refuses it");
  } else if (!facts.refusal.empty()) {
    problem(Severity::warning, path, "krond does not read this file: " + facts.refusal,
            "chmod go-w it, or its directory; krond refuses it");
  }
  add(jobs, read_text(path, *text, *spelling, zones_, options_));
}

struct Place {
  const std::string& file;
  std::uint32_t line;
};

Problem taken_name(const std::string& name, const Place& at, const Place& owner) {
  return {Severity::error,
          at.file,
          {at.line, 1},
          "name",
          "the name " + quoted(name, 200) + " is taken by the job at " + owner.file + ":" + std::to_string(owner.line),
          "give one of the two another name",
          {},
          0};
}

}  // namespace

bool LoadedJobs::has_errors() const {
  return std::ranges::find(problems, Severity::error, &Problem::severity) != problems.end();
}

std::optional<Spelling> spelling_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (is_below_cron_d(path) || name == "crontab") return Spelling::crontab;
  if (name.ends_with(".kron")) return Spelling::kron;
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return Spelling::yaml;
  if (name.ends_with(".json")) return Spelling::cronken;
  return std::nullopt;
}

std::optional<Spelling> spelling_named(std::string_view source) {
  if (source == "kron") return Spelling::kron;
  if (source == "yaml") return Spelling::yaml;
  if (source == "cron") return Spelling::crontab;
  if (source == "cronken") return Spelling::cronken;
  return std::nullopt;
}

LoadedJobs load_text(const std::string& file, std::string_view text, Spelling spelling, ZoneDatabase& zones,
                     const LoadOptions& options) {
  LoadedJobs jobs = read_text(file, text, spelling, zones, options);
  resolve_pools(jobs);
  return jobs;
}

void refuse_repeated_names(LoadedJobs& jobs) {
  HashIndex first;
  std::vector<bool> is_repeated(jobs.definitions.size(), false);
  first.reserve(jobs.definitions.size());
  const auto owner_of = [&](const std::string& name) {
    return first.find(hash_of(name), [&](std::uint32_t other) { return jobs.definitions[other].job.identity == name; });
  };
  for (std::uint32_t i = 0; i < jobs.definitions.size(); ++i) {
    const JobDefinition& definition = jobs.definitions[i];
    const std::string& name = definition.job.identity;
    if (const std::optional<std::uint32_t> taken = owner_of(name)) {
      is_repeated[i] = true;
      const JobDefinition& owner = jobs.definitions[*taken];
      jobs.problems.push_back(taken_name(name, {*definition.file, definition.line}, {*owner.file, owner.line}));
    } else {
      first.insert(hash_of(name), i);
    }
  }
  std::map<std::string_view, Place> refused;
  for (const RefusedName& one : jobs.refused) {
    const Place here{*one.file, one.line};
    if (const std::optional<std::uint32_t> taken = owner_of(one.name)) {
      const JobDefinition& owner = jobs.definitions[*taken];
      jobs.problems.push_back(taken_name(one.name, here, {*owner.file, owner.line}));
    } else if (const auto [known, is_new] = refused.emplace(one.name, here); !is_new) {
      jobs.problems.push_back(taken_name(one.name, here, known->second));
    }
  }
  if (first.size() == jobs.definitions.size()) return;
  std::size_t index = 0;
  std::erase_if(jobs.definitions, [&](const JobDefinition&) { return is_repeated[index++]; });
}

LoadedJobs load_paths(std::span<const std::string> paths, const FileAccess& files, ZoneDatabase& zones,
                      const LoadOptions& options) {
  Loader loader(files, zones, options);
  for (const std::string& path : paths) loader.load(path);
  resolve_pools(loader.jobs);
  refuse_repeated_names(loader.jobs);
  loader.jobs.calendar_files = loader.calendar_files();
  return std::move(loader.jobs);
}

}  // namespace kron::jobs
