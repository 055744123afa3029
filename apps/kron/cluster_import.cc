#include <algorithm>
#include <cstdio>
#include <map>

#include "answer_text.h"
#include "cluster_definition.h"
#include "cluster_edit.h"
#include "cluster_verbs.h"
#include "files.h"
#include "kron/base/text.h"
#include "kron/cluster/definition_edit.h"
#include "kron/jobs/disk.h"
#include "kron/json/writer.h"
#include "lines.h"
#include "terminal.h"

namespace kron::cli {
namespace {

namespace events = cluster::events;

// A job on its way from a file into the cluster.
struct Imported {
  std::string name;
  std::string text;     // empty: it cannot go
  std::string problem;  // why
  std::string fate = {};
};

// The definitions of cronken's files as they stand there: with keys that we do not know.
Result<std::map<std::string, std::string>> texts_of_cronken(const std::string& file) {
  // It has been read already, and is gone.
  if (file == "-") return fail(Code::invalid, "cronken's definitions are imported from files, not from standard input");
  const auto text = jobs::contents_of(file);
  if (!text) return fail(text.error());
  const auto document = parse_json(*text, {std::size_t{256} << 20, 64});
  if (!document) return fail(document.error());
  std::map<std::string, std::string> texts;
  const auto* map = document->as<Node::Map>();
  if (map == nullptr) return texts;
  for (const Node::Member& member : *map) texts.emplace(member.key, JsonWriter().node(member.value).take());
  return texts;
}

class Importer {
 public:
  Importer(const ClusterImportOptions& options, ZoneDatabase& zones) : options_(options), zones_(zones) {}

  Imported import(const jobs::JobDefinition& definition) {
    Imported job{definition.job.identity, {}, {}};
    const auto text = definition.spelling == jobs::Spelling::cronken
                          ? cronken_text(definition)
                          : cluster_text(definition, {!options_.no_lock, options_.ttl}, zones_);
    if (text) job.text = *text;
    if (!text) job.problem = text.error().message;
    return job;
  }

 private:
  Result<std::string> cronken_text(const jobs::JobDefinition& definition) {
    auto found = documents_.find(*definition.file);
    if (found == documents_.end()) {
      auto texts = texts_of_cronken(*definition.file);
      if (!texts) return fail(texts.error());
      found = documents_.emplace(*definition.file, *std::move(texts)).first;
    }
    const auto text = found->second.find(definition.job.identity);
    if (text == found->second.end()) return fail(Code::invalid, "its text is not in its file any more");
    return text->second;
  }

  const ClusterImportOptions& options_;
  ZoneDatabase& zones_;
  std::map<std::string, std::map<std::string, std::string>> documents_;
};

// As hosts would read it.
void check_imported(std::vector<Imported>& jobs, const cluster::JobRules& rules) {
  for (Imported& job : jobs) {
    if (job.text.empty()) continue;
    const cluster::ReadJob read = cluster::read_cluster_job(job.name, job.text, rules, Instant());
    for (const std::string& warning : read.warnings) {
      std::fprintf(stderr, "kron cluster import: %s: %s\n", harmless(job.name).c_str(), harmless(warning).c_str());
    }
    if (read.errors.empty()) continue;
    job.text.clear();
    job.problem = read.errors;
  }
}

Status write_imported(ClusterSession& session, Imported& job, const ClusterImportOptions& options,
                      const std::set<std::string>& known) {
  if (job.text.empty()) {
    job.fate = "refused";
    return {};
  }
  const bool is_there = known.contains(job.name);
  if (!options.yes) {
    job.fate = is_there ? (options.replace ? "would replace" : "is there") : "would add";
    return {};
  }
  const auto written = write_definition(session, job.name, job.text, options.replace);
  if (!written) return fail(written.error());
  switch (*written) {
    case DefinitionWritten::added:
      job.fate = "added";
      break;
    case DefinitionWritten::replaced:
      job.fate = "replaced";
      break;
    case DefinitionWritten::kept:
      job.fate = "is there";
      break;
  }
  return {};
}

void print_imported(const std::vector<Imported>& jobs, bool json) {
  if (json) {
    for (const Imported& job : jobs) {
      JsonWriter line;
      line.begin_map().member("job", job.name).member("result", job.fate).key("problem");
      job.problem.empty() ? line.null() : line.text(job.problem);
      line.key("definition");
      job.text.empty() ? line.null() : line.document(job.text);
      std::printf("%s\n", line.end_map().take().c_str());
    }
    return;
  }
  for (const Imported& job : jobs) {
    std::printf("%s %s%s\n", job.fate.c_str(), harmless(job.name).c_str(),
                job.problem.empty() ? "" : (": " + harmless(job.problem)).c_str());
  }
}

// The whole document with signatures: `kron cluster sign --file`.
Result<std::string> signed_document(const std::string& file, const cluster::SigningKey& key,
                                    const std::string& name_space) {
  const auto text = jobs::contents_of(file);
  if (!text) return fail(text.error().code, file + ": " + text.error().message);
  const auto document = parse_json(*text, {std::size_t{256} << 20, 64});
  if (!document) return fail(document.error().code, file + ": " + document.error().message);
  const auto* map = document->as<Node::Map>();
  if (map == nullptr) return fail(Code::invalid, file + ": expected a map of names to definitions");
  JsonWriter json;
  json.begin_map();
  for (const Node::Member& member : *map) {
    if (member.value.as<Node::Map>() == nullptr) {
      return fail(Code::invalid, file + ": the definition of " + quoted(member.key, 200) + " is no map");
    }
    const auto text_of_one =
        cluster::with_signature(JsonWriter().node(member.value).take(), key.sign(name_space, member.key, member.value));
    if (!text_of_one) return fail(text_of_one.error());
    json.key(member.key).document(*text_of_one);
  }
  return json.end_map().take();
}

int sign_in_redis(const ClusterSignOptions& options, const cluster::SigningKey& key) {
  constexpr std::string_view kVerb = "cluster sign";
  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto texts = options.all ? read_definitions(*session) : read_definitions(*session, options.names);
  if (!texts) return refuse(kVerb, texts.error(), options.json);
  int worst = 0;
  std::vector<Edit> edits;
  for (const auto& [name, text] : *texts) {
    if (const auto signed_one = signed_text(key, *session, name, text); !signed_one) {
      const Error error{Code::invalid, harmless(name) + ": " + signed_one.error().message};
      worst = std::max(worst, refuse(kVerb, error, options.json));
      continue;
    }
    edits.push_back({name, text});
  }
  const auto change = [&](const std::string& name, const std::string& text) -> Result<std::optional<std::string>> {
    auto signed_one = signed_text(key, *session, name, text);
    if (!signed_one) return fail(signed_one.error());
    return std::optional(*std::move(signed_one));
  };
  if (const Status done = apply(*session, edits, change, std::nullopt); !done) {
    return refuse(kVerb, done.error(), options.json);
  }
  const auto heard = tell(*session, events::Reload{});
  if (!heard) return refuse(kVerb, heard.error(), options.json);
  for (const Edit& edit : edits) {
    const bool is_signed = edit.outcome != Edit::Outcome::gone;
    if (options.json) {
      JsonWriter json;
      json.begin_map().member("job", edit.name).key("signed").boolean(is_signed).end_map();
      std::printf("%s\n", json.take().c_str());
    } else if (is_signed) {
      std::printf("signed %s%s\n", harmless(edit.name).c_str(),
                  edit.outcome == Edit::Outcome::unchanged ? " (it was already)" : "");
    }
  }
  return worst;
}

}  // namespace

int cluster_import(const ClusterImportOptions& options) {
  constexpr std::string_view kVerb = "cluster import";
  const auto key = signing_key(options.key_file);
  if (!key) return refuse(kVerb, key.error(), options.json);
  ZoneDatabase zones;
  const ReadJobs read = read_jobs({options.paths, options.source, options.user_column}, zones);
  show_errors(read);
  if (read.could_not_read) return read.status();
  Importer importer(options, zones);
  std::vector<Imported> jobs;
  for (const jobs::JobDefinition& definition : read.jobs.definitions) jobs.push_back(importer.import(definition));

  auto session = ClusterSession::open(options);
  if (!session) return refuse(kVerb, session.error(), options.json);
  const auto rules = read_rules(*session, zones);
  if (!rules) return refuse(kVerb, rules.error(), options.json);
  check_imported(jobs, *rules);
  const auto known = read_names(*session);
  if (!known) return refuse(kVerb, known.error(), options.json);
  for (Imported& job : jobs) {
    if (*key && !job.text.empty()) {
      const auto text = signed_text(**key, *session, job.name, job.text);
      if (!text) return refuse(kVerb, text.error(), options.json);
      job.text = *text;
    }
    if (const Status done = write_imported(*session, job, options, *known); !done) {
      return refuse(kVerb, done.error(), options.json);
    }
  }
  if (options.yes) {
    const auto heard = tell(*session, events::Reload{});
    if (!heard) return refuse(kVerb, heard.error(), options.json);
    warn_if_unheard(kVerb, *heard, "those that start later read the jobs then");
  }
  print_imported(jobs, options.json);
  if (!options.yes && !options.json) std::printf("nothing was written; --yes does it\n");
  const bool are_all = std::ranges::none_of(jobs, [](const Imported& job) { return job.fate == "refused"; });
  const bool are_new = std::ranges::none_of(jobs, [](const Imported& job) { return job.fate == "is there"; });
  const int fate = !are_all ? exit_status(Code::invalid) : are_new ? 0 : exit_status(Code::conflict);
  return std::max(read.status(), fate);
}

int cluster_sign(const ClusterSignOptions& options) {
  constexpr std::string_view kVerb = "cluster sign";
  const auto key = signing_key(options.key_file);
  if (!key) return refuse(kVerb, key.error(), options.json);
  if (!*key) {
    return refuse(kVerb, {Code::unreadable, "which key? Give --jobs-hmac-key PATH, or set KRON_JOBS_HMAC_KEY"},
                  options.json);
  }
  if (options.file.empty()) return sign_in_redis(options, **key);
  const auto name_space = namespace_of(options);
  if (!name_space) return refuse(kVerb, name_space.error(), options.json);
  const auto document = signed_document(options.file, **key, *name_space);
  if (!document) return refuse(kVerb, document.error(), options.json);
  std::printf("%s\n", document->c_str());
  return 0;
}

}  // namespace kron::cli
