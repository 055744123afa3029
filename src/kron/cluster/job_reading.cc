#include "kron/cluster/job_reading.h"

#include "kron/cluster/definition_edit.h"
#include "kron/cluster/json_spans.h"
#include "kron/jobs/cluster_rules.h"
#include "kron/jobs/cronken.h"
#include "kron/jobs/model.h"
#include "kron/json/document.h"
#include "kron/queue/task.h"

namespace kron::cluster {
namespace {

std::string sentence_of(const std::string& field, const std::string& message, const std::string& cure = {}) {
  // A message may begin with the last word of its field.
  const std::string_view last = std::string_view(field).substr(field.rfind('.') + 1);
  const bool is_named = message.starts_with(std::string(last) + ": ");
  std::string text = field.empty() || message.starts_with(field + ":")
                         ? message
                         : field + ": " + (is_named ? message.substr(last.size() + 2) : message);
  return cure.empty() ? text : text + "; " + cure;
}

// The errors of a report as one text, and its warnings each as one.
void take_problems(const std::vector<jobs::Problem>& problems, ReadJob& job) {
  for (const jobs::Problem& problem : problems) {
    std::string sentence = sentence_of(problem.field, problem.message, problem.cure);
    if (problem.severity == jobs::Severity::error) {
      job.errors += (job.errors.empty() ? "" : "; ") + sentence;
    } else if (problem.severity == jobs::Severity::warning) {
      job.warnings.push_back(std::move(sentence));
    }
  }
}

// What job_state says, whatever else is wrong with the definition.
std::optional<bool> paused_in(const Node& definition) {
  if (definition.as<Node::Map>() == nullptr) return std::nullopt;
  const Node* state = definition.find("job_state");
  if (state == nullptr || state->is_null()) return false;
  if (state->as<Node::Map>() == nullptr) return std::nullopt;
  const Node* paused = state->find("paused");
  if (paused == nullptr || paused->is_null()) return false;
  return jobs::cronken_boolean(*paused);
}

// Reads many, whose equal options are shared.
class Reader {
 public:
  explicit Reader(const JobRules& rules)
      : rules_(rules),
        context_{.zones = rules.zones,
                 .spelling = jobs::Spelling::cronken,
                 .file = std::make_shared<const std::string>(rules.name_space + ":jobs"),
                 .zone = rules.zone,
                 .is_clustered = true} {}

  ReadJob read(const std::string& name, std::string_view text, Instant read_at) {
    ReadJob job;
    const Result<Node> node = parse_foreign_json(text);
    if (!node) {
      job.errors = "the definition is no JSON: " + node.error().message;
      return job;
    }
    job.is_paused = paused_in(*node);
    if (const Status named = jobs::check_cluster_name(name); !named) {
      job.errors = named.error().message;
      return job;
    }
    if (const Status is_signed = check_signature(rules_.signatures, rules_.name_space, name, *node); !is_signed) {
      job.errors = sentence_of(is_signed.error().field, is_signed.error().message);
      return job;
    }
    jobs::Report report(*context_.file, text);
    job.definition = jobs::read_cronken_job(name, *node, context_, report);
    context_.refused.clear();
    take_problems(report.problems(), job);
    if (job.definition && submits_task(*job.definition)) {
      if (const Status good = check_task(*job.definition); !good) {
        job.errors = sentence_of(good.error().field, good.error().message);
        job.definition.reset();
        return job;
      }
    }
    if (job.definition && job.definition->options->notify && !rules_.tasks_in_redis) {
      job.errors = sentence_of("kron.notify",
                               "the tasks of this krond are in its own files (--tasks file): each host would send what "
                               "one of them shall send; leave --tasks out, or leave out kron.notify");
      job.definition.reset();
      return job;
    }
    if (job.definition) {
      take_terms(name, read_at, job);
    } else if (job.errors.empty()) {
      job.errors = "the definition cannot be read";
    }
    return job;
  }

 private:
  // What the queue would refuse when the job is due.
  [[nodiscard]] Status check_task(const jobs::JobDefinition& definition) const {
    if (!rules_.tasks_in_redis) {
      return fail(
          Code::invalid,
          "the tasks of this krond are in its own files (--tasks file), which a job of the cluster cannot submit "
          "to: leave --tasks out, or give job_args.cmd",
          "kron.task");
    }
    const auto task = checked({.id = "task",
                               .type = std::get<jobs::SubmitTask>(definition.action).type,
                               .data = task_data_of(definition.options->input)});
    if (!task) return fail(Code::invalid, task.error().message, "kron.task");
    return {};
  }

  void take_terms(const std::string& name, Instant read_at, ReadJob& job) {
    jobs::JobDefinition& definition = *job.definition;
    definition.line = 0;  // it stands in no file
    if (definition.options->shell != rules_.shell) {
      jobs::RunOptions options = *definition.options;
      options.shell = rules_.shell;
      definition.options = context_.pool.share(std::move(options));
    }
    const jobs::ClusterTerms& terms = *definition.options->terms;
    job.terms.locked = terms.locked;
    if (terms.locked) job.terms.lock_name = terms.lock_name.empty() ? name : terms.lock_name;
    job.terms.ttl = terms.ttl;
    job.terms.deadline = definition.job.policy.deadline;
    job.terms.read_at = read_at;
  }

  const JobRules& rules_;
  jobs::ModelContext context_;
};

// What is noted of a definition that is refused; its text as it was, when something is noted already or cannot be.
std::string with_first_errors(const std::string& text, const std::string& errors) {
  const Result<std::optional<std::string>> noted = validation_errors_of(text);
  if (!noted || *noted) return text;
  Result<std::string> edited = with_validation_errors(text, errors);
  return edited ? *std::move(edited) : text;
}

}  // namespace

ReadJob read_cluster_job(const std::string& name, std::string_view text, const JobRules& rules, Instant read_at) {
  return Reader(rules).read(name, text, read_at);
}

JobReading read_jobs(const JobTexts& texts, const JobRules& rules) {
  JobReading reading;
  Reader reader(rules);
  reading.definitions.reserve(texts.definitions.size());
  reading.terms.reserve(texts.definitions.size());
  for (const auto& [name, text] : texts.definitions) {
    ReadJob job = reader.read(name, text, texts.read_at);
    DefinitionEdit edit{.name = name, .before = text, .after = text};
    if (job.is_paused && *job.is_paused != texts.paused.contains(name)) {
      edit.set = *job.is_paused ? DefinitionEdit::Set::add : DefinitionEdit::Set::remove;
    }
    if (!job.errors.empty()) edit.after = with_first_errors(text, job.errors);
    if (edit.set != DefinitionEdit::Set::leave || edit.after != edit.before) reading.edits.push_back(std::move(edit));
    for (std::string& warning : job.warnings) reading.warnings.push_back({name, std::move(warning)});
    if (job.definition && job.errors.empty()) {
      reading.definitions.push_back(*std::move(job.definition));
      reading.terms.emplace(name, std::move(job.terms));
    } else {
      reading.refused.push_back({name, std::move(job.errors)});
    }
  }
  return reading;
}

std::optional<DefinitionEdit> validation_edit(const std::string& name, const std::string& text, const JobRules& rules) {
  const std::string errors = read_cluster_job(name, text, rules, Instant()).errors;
  Result<std::string> edited =
      with_validation_errors(text, errors.empty() ? std::nullopt : std::optional<std::string>(errors));
  if (!edited || *edited == text) return std::nullopt;
  return DefinitionEdit{.name = name, .before = text, .after = *std::move(edited)};
}

}  // namespace kron::cluster
