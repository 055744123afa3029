#include "kron/json/decide_request.h"

#include <algorithm>
#include <array>

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/json/job_fields.h"
#include "kron/json/times.h"

namespace kron {
namespace {

constexpr std::array kRequestKeys = [] {
  constexpr std::array<std::string_view, 19> kFlat{
      "identity",  "job",      "periodStart", "mode",       "skewShape",   "seedStrategy", "salt",
      "onlyHours", "onlyDow",  "onlyDom",     "onlyMonths", "onlyDates",   "onlyBetween",  "avoidHours",
      "avoidDow",  "avoidDom", "avoidMonths", "avoidDates", "avoidBetween"};
  std::array<std::string_view, kFlat.size() + kJobKeys.size()> keys;
  std::ranges::copy(kJobKeys, std::ranges::copy(kFlat, keys.begin()).out);
  return keys;
}();

// The flat names of the numeric clauses, after `only` or `avoid`. They are those of the reference vectors, and no more
// come: a kind of clause that is added is said by `only` and `avoid`.
struct NumberList {
  std::string_view name;
  std::string_view kind;
};
constexpr std::array kNumberLists{NumberList{"Hours", "hours"}, NumberList{"Dow", "dow"}, NumberList{"Dom", "dom"},
                                  NumberList{"Months", "months"}};

void read_number_lists(ConstraintSet& set, Fields& fields, const std::string& side) {
  for (const auto& [name, kind] : kNumberLists) {
    const std::string key = side + std::string(name);
    for (const std::string& value : fields.scalars(key)) {
      if (const Status added = add_clause(set, kind, value); !added) {
        fields.report(key, added.error().message);
        break;
      }
    }
  }
}

// [{startKey: number, endKey: number}, …], each pair spelled as a clause of `kind`.
template <class Spell>
void read_pairs(ConstraintSet& set, Fields& fields, const std::string& key, std::string_view kind,
                std::array<std::string_view, 2> names, Spell spell) {
  const Node* found = fields.find(key);
  if (found == nullptr) return;
  const auto* list = found->as<Node::List>();
  if (list == nullptr) return fields.report(key, "expected a list, found " + std::string(kind_of(*found)));
  for (const Node& item : *list) {
    std::vector<Error> problems;
    Fields pair(item, "", problems);
    pair.reject_unknown(names);
    const auto first = pair.integer(names[0]);
    const auto last = pair.integer(names[1]);
    const std::optional<std::string> clause = first && last && problems.empty() ? spell(*first, *last) : std::nullopt;
    const Status added = clause ? add_clause(set, kind, *clause) : Status();
    if (clause && added) continue;
    return fields.report(key, !added ? added.error().message
                                     : "expected {\"" + std::string(names[0]) + "\",\"" + std::string(names[1]) +
                                           "\"} with whole numbers in range, minutes 0-1439 or days YYYYMMDD");
  }
}

std::string two_digits(std::int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); }

std::optional<std::string> minutes_clause(std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLastMinute = 1439;
  if (std::min(first, last) < 0 || std::max(first, last) > kLastMinute) return std::nullopt;
  return two_digits(first / 60) + ':' + two_digits(first % 60) + '-' + two_digits(last / 60) + ':' +
         two_digits(last % 60);
}

std::optional<std::string> days_clause(std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLastDay = 99991231;
  if (std::min(first, last) < 0 || std::max(first, last) > kLastDay) return std::nullopt;
  return to_string(DateRange{static_cast<std::int32_t>(first), static_cast<std::int32_t>(last)});
}

void read_flat_clauses(ConstraintSet& set, Fields& fields, const std::string& side) {
  read_number_lists(set, fields, side);
  read_pairs(set, fields, side + "Between", "between", {"startMinute", "endMinute"}, minutes_clause);
  read_pairs(set, fields, side + "Dates", "dates", {"startDay", "endDay"}, days_clause);
}

void read_identity(Job& job, Fields& fields) {
  if (const auto text = fields.text("identity")) job.identity = *text;
  if (job.identity.empty()) fields.report("identity", "an identity is required: any text that names the job");
  if (const auto text = fields.text("salt")) job.salt = *text;
}

void read_flat_names(Job& job, Fields& fields) {
  if (const auto text = fields.text("mode"); text && !text->empty()) {
    fields.take(job.window.mode, "mode", parse_window_mode(*text));
  }
  if (const auto text = fields.text("seedStrategy"); text && !text->empty()) {
    fields.take(job.seed_strategy, "seedStrategy", parse_seed_strategy(*text));
  }
  if (const auto shape = fields.scalar("skewShape")) {
    fields.take(job.distribution, "skewShape", make_distribution(name_of(job.distribution.kind), {{"shape", *shape}}));
  }
  read_flat_clauses(job.constraints.only, fields, "only");
  read_flat_clauses(job.constraints.avoid, fields, "avoid");
}

bool has_year_of_four_digits(Instant t) {
  constexpr Instant kYear0 = instant_of(-62167219200);
  constexpr Instant kEndOf9999 = instant_of(253402300799);
  return kYear0 <= t && t <= kEndOf9999;
}

// Nothing, and an error noted, when there is none.
std::optional<Instant> read_nominal(const WindowSpec& spec, Fields& fields) {
  const auto text = fields.text("periodStart");
  if (!text) {
    if (!fields.has("periodStart")) {
      fields.report("periodStart", "the nominal time is required, such as 2026-03-01T00:00:00Z");
    }
    return std::nullopt;
  }
  if (has_fraction(*text)) {
    fields.report("periodStart", "a nominal time is a whole second; leave the fraction out", text->find('.') + 1);
    return std::nullopt;
  }
  Instant nominal;
  fields.take(nominal, "periodStart", parse_rfc3339(*text));
  const Window window = window_of(spec, nominal);
  if (!has_year_of_four_digits(window.start) || !has_year_of_four_digits(window.end)) {
    fields.report("periodStart", "the window leaves the years 0000 to 9999");
  }
  return nominal;
}

}  // namespace

Result<DecideRequest> parse_decide_request(std::string_view json, ZoneDatabase& zones) {
  const Result<Node> document = parse_json(json);
  if (!document) return fail(document.error());
  if (document->as<Node::Map>() == nullptr) {
    return fail(Code::invalid, "expected a JSON object, found " + std::string(kind_of(*document)), "", 1);
  }
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(kRequestKeys);
  Job draft;
  read_identity(draft, fields);
  read_job(draft, fields, zones);
  read_flat_names(draft, fields);
  const std::optional<Instant> nominal = read_nominal(draft.window, fields);
  if (!errors.empty()) return fail(errors.front());
  Result<Job> job = make_job(std::move(draft));
  if (!job) return fail(job.error());
  return DecideRequest{*std::move(job), *nominal};
}

}  // namespace kron
