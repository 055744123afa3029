#include "kron/jobs/option_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/make_job.h"
#include "kron/jobs/keys.h"
#include "kron/jobs/model.h"
#include "kron/jobs/ping_url.h"

namespace kron::jobs {
namespace {

void read_limit_map(const Fields& fields, ResourceLimits& limits) {
  Fields(fields).reject_unknown(limit_keys());
  OptionReader reader(fields);
  visit_limits(reader, limits);
}

bool is_secret_path(const std::string& path) {
  constexpr std::size_t kMostPath = 4095;
  return path.starts_with('/') && path.size() > 1 && path.size() <= kMostPath && !has_control_character(path);
}

// What is absent is told of all; late only where it is said when that is.
void read_notify_map(const Fields& all, AlarmTerms& terms) {
  Fields fields(all);
  fields.reject_unknown(notify_keys());
  OptionReader reader(fields);
  visit_notify(reader, terms);
  if (!fields.has("on")) terms.on = usual_kinds(terms);
  if (terms.to.empty() && !fields.has("to")) {
    fields.report("to", "nobody is named; give the name of a destination, as to: [ops]");
  }
  if (terms.tells(AlarmKind::late) && !terms.late) {
    fields.report("late", "on has late, and nothing says when a run is late; add late: 2h");
  }
  if (terms.late && !terms.tells(AlarmKind::late)) fields.report("late", "a time is given, but on does not have late");
  if (terms.late && terms.late->count() == 0) fields.report("late", "every run would be late; give a time such as 2h");
}

}  // namespace

std::vector<AlarmKind> usual_kinds(const AlarmTerms& terms) {
  std::vector<AlarmKind> kinds = all_alarm_kinds();
  if (!terms.late) std::erase(kinds, AlarmKind::late);
  return kinds;
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; });
}

std::optional<std::string> OptionReader::word(Key key) {
  const Node* node = fields_.find(key);
  std::optional<std::string> text =
      node != nullptr && node->as<bool>() != nullptr ? word_of(*node) : fields_.scalar(key);
  if (text && text->find('\0') != std::string::npos) {
    fields_.report(key, "a NUL byte in the value");
    return std::nullopt;
  }
  return text;
}

void OptionReader::text(Key key, std::string& target, About) {
  if (auto text = word(key)) target = *std::move(text);
}

void OptionReader::scalar(Key key, std::optional<std::string>& target, About) {
  if (auto text = word(key)) target = std::move(text);
}

void OptionReader::shell(Key key, std::string& target, About) {
  const std::optional<std::string> text = word(key);
  if (!text || *text == "false") return;
  if (*text == "true") {
    target = kUsualShell;
  } else if (text->starts_with('/') && !has_control_character(*text)) {
    target = *text;
  } else {
    fields_.report(key, quoted(*text) + " is no shell; expected true, false or an absolute path", 1);
  }
}

void OptionReader::account(Key key, std::string& target, About) {
  std::optional<std::string> name = word(key);
  if (!name) return;
  if (name->empty() || name->starts_with('-') || name->find_first_of(" \t:,") != std::string::npos ||
      has_control_character(*name)) {
    return fields_.report(key, quoted(*name) + " is no " + std::string(key) + " name", 1);
  }
  target = *std::move(name);
}

void OptionReader::directory(Key key, std::string& target, About) {
  std::optional<std::string> path = word(key);
  if (!path) return;
  if (*path != "~" && (!path->starts_with('/') || has_control_character(*path))) {
    return fields_.report(key, quoted(*path) + " is no absolute path; ~ stands for the user's home", 1);
  }
  target = *std::move(path);
}

void OptionReader::output(Key key, std::string& target, About) {
  constexpr std::string_view kFilePrefix = "file:";
  const std::optional<std::string> text = word(key);
  if (!text || *text == "capture") return;
  std::string_view place = *text;
  if (place.starts_with(kFilePrefix)) place.remove_prefix(kFilePrefix.size());
  const bool is_word = *text == "discard" || *text == "inherit" || *text == "syslog";
  if (!is_word && (!place.starts_with('/') || has_control_character(place))) {
    return fields_.report(key,
                          quoted(*text) +
                              " is no place for output; expected capture, discard, inherit, syslog, an absolute path "
                              "or file: and an absolute path",
                          1);
  }
  target = place;
}

// A map, or a list of NAME=value.
void OptionReader::environment(Key key, Environment& target, About) {
  const Node* node = fields_.find(key);
  if (node == nullptr) return;
  if (node->as<Node::List>() == nullptr) {
    const std::optional<Fields> map = fields_.map(key);
    if (!map) return;
    OptionReader variables(*map);
    for (const Node::Member& member : *node->as<Node::Map>()) {
      if (auto value = variables.word(member.key)) add_variable(key, target, member.key, *std::move(value));
    }
    return;
  }
  for (const std::string& text : fields_.scalars(key)) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      // Not quoted: it may be a password, and messages reach those who may not see it.
      fields_.report(key, "a text without = gives no value; expected NAME=value");
    } else {
      add_variable(key, target, text.substr(0, equals), text.substr(equals + 1));
    }
  }
}

void OptionReader::add_variable(Key key, Environment& target, std::string name, std::string value) {
  if (name.empty() || name.find_first_of("= \t") != std::string::npos || has_control_character(name)) {
    return fields_.report(key, quoted(name) + " is no name of a variable; expected NAME=value");
  }
  if (std::ranges::find(target, name, &Environment::value_type::first) != target.end()) {
    return fields_.report(key, "the variable " + quoted(name) + " is given twice; keep one of them");
  }
  target.emplace_back(std::move(name), std::move(value));
}

// A list, or one path.
void OptionReader::env_files(Key key, std::vector<std::string>& target, About) {
  if (!fields_.has(key)) return;
  for (std::string& path : fields_.scalars(key)) {
    if (!is_secret_path(path)) {
      // Not quoted, as with env: who has misunderstood this has written a password here.
      fields_.report(key, "what is given is no absolute path; name the file, not what is in it");
    } else if (std::ranges::find(target, path) != target.end()) {
      fields_.report(key, "the file " + quoted(path) + " is given twice; keep one of them");
    } else {
      target.push_back(std::move(path));
    }
  }
  if (target.size() <= kMostEnvFiles) return;
  fields_.report(
      key, "a job has at most " + std::to_string(kMostEnvFiles) + " of them, not " + std::to_string(target.size()));
}

// A map, or a list of NAME=FILE.
void OptionReader::credentials(Key key, Environment& target, About) {
  const Node* node = fields_.find(key);
  if (node == nullptr) return;
  if (const auto* members = node->as<Node::Map>()) {
    OptionReader paths(*fields_.map(key));
    for (const Node::Member& member : *members) {
      if (auto path = paths.word(member.key)) add_credential(key, target, member.key, *std::move(path));
    }
  } else {
    for (const std::string& text : fields_.scalars(key)) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos) {
        // Not quoted, as with env: who has misunderstood this has written a password here.
        fields_.report(key, "a text without = names no file; expected NAME=/path");
      } else {
        add_credential(key, target, text.substr(0, equals), text.substr(equals + 1));
      }
    }
  }
  if (target.size() <= kMostCredentials) return;
  fields_.report(
      key, "a job has at most " + std::to_string(kMostCredentials) + " of them, not " + std::to_string(target.size()));
}

void OptionReader::add_credential(Key key, Environment& target, std::string name, std::string path) {
  if (!is_credential_name(name)) {
    return fields_.report(key, quoted(name, 80) +
                                   " is no name of a credential; names are letters, digits and . _ -, "
                                   "no dot first, at most " +
                                   std::to_string(kMostCredentialName) + " bytes");
  }
  if (!is_secret_path(path)) {
    return fields_.report(
        key, "what is given for " + quoted(name) + " is no absolute path; name the file, not what is in it");
  }
  if (std::ranges::find(target, name, &Environment::value_type::first) != target.end()) {
    return fields_.report(key, "the credential " + quoted(name) + " is given twice; keep one of them");
  }
  target.emplace_back(std::move(name), std::move(path));
}

void OptionReader::flag(Key key, bool& target, About) {
  const std::optional<std::string> text = word(key);
  if (!text) return;
  if (*text != "true" && *text != "false") {
    return fields_.report(key, quoted(*text) + " is neither true nor false", 1);
  }
  target = *text == "true";
}

void OptionReader::percent(Key key, std::optional<std::uint32_t>& target, std::uint32_t most, About) {
  if (const auto text = fields_.scalar(key)) fields_.take(target.emplace(), key, parse_percent(*text, most));
}

void OptionReader::octal(Key key, std::optional<std::uint32_t>& target, std::uint32_t most, About) {
  const std::optional<std::string> digits = fields_.scalar(key);
  if (!digits) return;
  std::uint32_t value = 0;
  const char* const last = digits->data() + digits->size();
  const auto [end, status] = std::from_chars(digits->data(), last, value, 8);
  if (status != std::errc() || end != last || value > most) {
    return fields_.report(key, quoted(*digits) + " is no " + std::string(key) + "; expected octal digits such as 022",
                          1);
  }
  target = value;
}

// Whole numbers may stand as numbers or, in a one-line spelling, as text.
std::optional<std::int64_t> OptionReader::number_in(Key key, NumberRange range) {
  const std::optional<std::string> text = fields_.scalar(key);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* const last = text->data() + text->size();
  const auto [end, status] = std::from_chars(text->data(), last, value);
  if (status == std::errc() && end == last && value >= range.least && value <= range.most) return value;
  fields_.report(key,
                 quoted(*text) + " is not a whole number from " + std::to_string(range.least) + " to " +
                     std::to_string(range.most),
                 1);
  return std::nullopt;
}

void OptionReader::number(Key key, std::optional<std::int32_t>& target, NumberRange range, About) {
  if (const auto value = number_in(key, range)) target = static_cast<std::int32_t>(*value);
}

void OptionReader::number(Key key, std::optional<std::uint32_t>& target, NumberRange range, About) {
  if (const auto value = number_in(key, range)) target = static_cast<std::uint32_t>(*value);
}

void OptionReader::number(Key key, std::uint32_t& target, NumberRange range, std::uint32_t, About) {
  if (const auto value = number_in(key, range)) target = static_cast<std::uint32_t>(*value);
}

void OptionReader::count(Key key, std::optional<std::uint64_t>& target, About) {
  const auto value = number_in(key, {0, std::numeric_limits<std::int32_t>::max()});
  if (value) target = static_cast<std::uint64_t>(*value);
}

void OptionReader::size(Key key, std::optional<std::uint64_t>& target, About) {
  if (const auto text = fields_.scalar(key)) fields_.take(target.emplace(), key, parse_size(*text));
}

// No longer than a window may be: it is added to times, too.
void OptionReader::seconds(Key key, Seconds& target, Seconds, About) {
  const auto text = fields_.scalar(key);
  if (!text) return;
  Result<Seconds> seconds = parse_whole_seconds(*text);
  const Status bounded = seconds ? check_duration(*seconds) : Status{};
  if (!bounded) seconds = fail(bounded.error());
  fields_.take(target, key, std::move(seconds));
}

void OptionReader::seconds(Key key, std::optional<Seconds>& target, About) {
  if (fields_.has(key)) seconds(key, target.emplace());
}

void OptionReader::seconds(Key key, std::optional<std::uint32_t>& target, Seconds most, About) {
  std::optional<Seconds> given;
  seconds(key, given);
  if (given && *given > most) {
    return fields_.report(key, duration_text(*given) + " is longer than " + duration_text(most), 1);
  }
  if (given) target = static_cast<std::uint32_t>(given->count());
}

void OptionReader::fails_on(Key key, std::optional<FailsOn>& target, About) {
  if (const auto text = fields_.scalar(key)) fields_.take(target.emplace(), key, parse_fails_on(*text));
}

// A list, or the one-line form 0,2.
void OptionReader::exit_codes(Key key, std::optional<ExitCodes>& target, About) {
  if (!fields_.has(key)) return;
  ExitCodes codes;
  for (const std::string& text : fields_.scalars(key)) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      const std::string_view part = trimmed(std::string_view(text).substr(at, comma - at));
      int code = -1;
      const auto [end, status] = std::from_chars(part.data(), part.data() + part.size(), code);
      if (status != std::errc() || end != part.data() + part.size() || code < 0 || code > 255) {
        return fields_.report(key, quoted(part) + " is no exit code; expected numbers from 0 to 255, such as 0,2",
                              at + 1);
      }
      codes.add(code);
      at = comma + 1;
    }
  }
  if (codes == ExitCodes()) return fields_.report(key, "no exit code is named; expected a list such as 0,2");
  target = codes;
}

// NAME, or NAME:SLOTS.
void OptionReader::pool(Key key, std::optional<SlotPool>& target, About) {
  const std::optional<std::string> text = word(key);
  if (!text) return;
  const std::size_t colon = std::min(text->find(':'), text->size());
  SlotPool pool{text->substr(0, colon), 0};
  if (!is_job_name(pool.name)) {
    return fields_.report(key, quoted(pool.name) + " is no name of a pool; expected NAME or NAME:SLOTS, such as db:4",
                          1);
  }
  if (colon != text->size()) {
    const std::string_view slots = std::string_view(*text).substr(colon + 1);
    const auto [end, status] = std::from_chars(slots.data(), slots.data() + slots.size(), pool.slots);
    if (status != std::errc() || end != slots.data() + slots.size() || pool.slots < 1 || pool.slots > kMostSlots) {
      return fields_.report(key, quoted(slots) + " is no number of slots; expected 1 to " + std::to_string(kMostSlots),
                            colon + 2);
    }
  }
  target = std::move(pool);
}

Node OptionReader::one_line_map(Key key, const std::string& list, std::string_view what, std::string_view example) {
  Node::Map parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string_view part = trimmed(std::string_view(list).substr(at, comma - at));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      fields_.report(key,
                     quoted(part) + " is no " + std::string(what) + "; expected a list such as " + std::string(example),
                     at + 1);
    } else if (std::ranges::find(parts, part.substr(0, equals), &Node::Member::key) != parts.end()) {
      fields_.report(key, "the " + std::string(what) + " " + quoted(part.substr(0, equals)) + " is given twice",
                     at + 1);
    } else {
      parts.push_back({std::string(part.substr(0, equals)), {}, Node(std::string(part.substr(equals + 1)))});
    }
    at = comma + 1;
  }
  return Node(std::move(parts));
}

// A map, or the one-line form memory=512M,files=1024.
void OptionReader::limits(Key key, ResourceLimits& target, About) {
  in_map(key, "limit", "memory=512M,cpu=60s,files=1024",
         [&target](const Fields& fields) { read_limit_map(fields, target); });
}

// A map, or the one-line form on=failed+missed,to=ops.
void OptionReader::notify(Key key, std::optional<AlarmTerms>& target, About) {
  in_map(key, "part of notify", "on=failed+missed,after=2,to=ops",
         [&target](const Fields& fields) { read_notify_map(fields, target.emplace()); });
}

void OptionReader::ping(Key key, std::string& target, About) {
  const std::optional<std::string> text = word(key);
  if (!text) return;
  Result<std::string> url = parse_ping_url(*text);
  if (!url) return fields_.report(key, url.error().message, 1);
  target = *std::move(url);
}

void OptionReader::in_map(Key key, std::string_view what, std::string_view example,
                          const std::function<void(const Fields&)>& read) {
  const Node* node = fields_.find(key);
  const auto* list = node != nullptr ? node->as<std::string>() : nullptr;
  if (list == nullptr) {
    if (const std::optional<Fields> map = fields_.map(key)) read(*map);
    return;
  }
  std::vector<Error> errors;
  const Node map = one_line_map(key, *list, what, example);
  // What is spelled in no way that can be read is all there is to say.
  if (map.as<Node::Map>()->empty()) return;
  read(Fields(map, "", errors));
  for (const Error& error : errors) fields_.report(key, error.field + ": " + error.message);
}

// A list, or one text in which + stands between them.
std::vector<std::string> OptionReader::words_in(Key key) {
  std::vector<std::string> words;
  for (const std::string& text : fields_.scalars(key)) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t plus = std::min(text.find('+', at), text.size());
      words.emplace_back(trimmed(std::string_view(text).substr(at, plus - at)));
      at = plus + 1;
    }
  }
  return words;
}

void OptionReader::kinds(Key key, std::vector<AlarmKind>& target, About) {
  if (!fields_.has(key)) return;
  std::vector<AlarmKind> found;
  for (const std::string& word : words_in(key)) {
    const Result<AlarmKind> kind = parse_alarm_kind(word);
    if (kind) {
      found.push_back(*kind);
    } else {
      fields_.report(key, kind.error().message);
    }
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  target = std::move(found);
}

void OptionReader::pause(Key key, std::optional<Seconds>& target, About about) {
  const auto text = fields_.scalar(key);
  if (text && *text != "never") seconds(key, target, about);
}

void OptionReader::destinations(Key key, std::vector<std::string>& target, About) {
  for (std::string& name : words_in(key)) {
    if (!is_destination_name(name)) {
      fields_.report(key, quoted(name) +
                              " is no name of a destination; names are lower-case letters, digits and . _ -, "
                              "begin and end with a letter or digit, at most " +
                              std::to_string(kMostDestinationBytes) + " bytes");
    } else if (std::ranges::find(target, name) == target.end()) {
      target.push_back(std::move(name));
    }
  }
  if (target.size() <= kMostDestinations) return;
  fields_.report(key, "a job has at most " + std::to_string(kMostDestinations) + " destinations, not " +
                          std::to_string(target.size()));
}

}  // namespace kron::jobs
