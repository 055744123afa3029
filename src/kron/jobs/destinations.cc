#include "kron/jobs/destinations.h"

#include <algorithm>
#include <array>

#include "kron/base/text.h"
#include "kron/core/alarm.h"
#include "kron/jobs/option_reader.h"
#include "kron/jobs/words.h"
#include "kron/jobs/yaml.h"
#include "kron/json/fields.h"

namespace kron::jobs {
namespace {

constexpr auto kDestinationKinds = std::to_array<std::string_view>({"webhook", "mail", "command"});
constexpr auto kWebhookKeys = std::to_array<std::string_view>({"url", "secret_file", "ca_file"});
constexpr auto kMailKeys = std::to_array<std::string_view>({"to", "from", "sendmail"});

// Nothing that is repeated in a message: a URL may hold a secret.
bool is_url(std::string_view url) {
  const std::size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || url.size() == scheme) return false;
  const auto is_printable = [](char c) { return c > 0x20 && c < 0x7F; };
  const std::string_view authority = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  return std::ranges::all_of(url, is_printable) && !authority.empty() && authority.find('@') == authority.npos &&
         url.find('#') == url.npos;
}

bool is_address(std::string_view text) {
  const auto is_plain = [](char c) { return c > 0x20 && c != 0x7F && c != ',' && c != ';' && c != '<' && c != '>'; };
  return !text.empty() && text.size() <= 320 && text.front() != '-' && is_valid_utf8(text) &&
         std::ranges::all_of(text, is_plain);
}

void read_path(Fields& fields, std::string_view key, std::string& target) {
  const auto path = fields.scalar(key);
  if (!path) return;
  if (!path->starts_with('/') || has_control_character(*path)) {
    return fields.report(key, quoted(*path) + " is no absolute path");
  }
  target = *path;
}

Destination read_webhook(Fields fields) {
  fields.reject_unknown(kWebhookKeys);
  Webhook webhook;
  if (!fields.has("url")) fields.report("url", "the webhook has no url; give one, as https://hooks.example.org/kron");
  if (const auto url = fields.scalar("url")) {
    if (!is_url(*url)) {
      fields.report("url",
                    "this is no URL; expected https://host/path, or http:// for this machine, without a password");
    }
    webhook.url = *url;
  }
  read_path(fields, "secret_file", webhook.secret_file);
  read_path(fields, "ca_file", webhook.ca_file);
  return webhook;
}

Destination read_mail(Fields fields) {
  fields.reject_unknown(kMailKeys);
  Mail mail;
  if (!fields.has("to")) fields.report("to", "the mail has no address; give one, as to: ops@example.org");
  for (std::string& address : fields.scalars("to")) {
    if (!is_address(address)) fields.report("to", quoted(address) + " is no mail address");
    mail.to.push_back(std::move(address));
  }
  if (mail.to.size() > kMostMailAddresses) {
    fields.report("to", "a mail has at most " + std::to_string(kMostMailAddresses) + " addresses; name a list");
  }
  if (const auto from = fields.scalar("from")) {
    if (!is_address(*from)) fields.report("from", quoted(*from) + " is no mail address");
    mail.from = *from;
  }
  read_path(fields, "sendmail", mail.sendmail);
  return mail;
}

Destination read_command(Fields& fields) {
  NotifyCommand command;
  const Node* node = fields.find("command");
  if (node->as<Node::List>() != nullptr) {
    command.words = fields.scalars("command");
  } else if (const auto text = fields.scalar("command")) {
    Result<std::vector<std::string>> words = words_of(*text);
    fields.take(command.words, "command", std::move(words));
  }
  const bool is_path = !command.words.empty() && command.words.front().starts_with('/');
  const auto is_bad = [](const std::string& word) { return word.find('\0') != std::string::npos; };
  if (!is_path || std::ranges::any_of(command.words, is_bad)) {
    fields.report("command", "expected a program by its absolute path, and words");
  }
  return command;
}

std::optional<Destination> read_destination(Fields fields) {
  fields.reject_unknown(kDestinationKinds);
  std::size_t given = 0;
  for (const std::string_view kind : kDestinationKinds) given += fields.has(kind) ? 1 : 0;
  if (given != 1) {
    fields.report(given == 0 ? "webhook" : "mail", "a destination is one of webhook, mail and command");
    return std::nullopt;
  }
  if (fields.has("command")) return read_command(fields);
  const bool is_webhook = fields.has("webhook");
  std::optional<Fields> inner = fields.map(is_webhook ? "webhook" : "mail");
  if (!inner) return std::nullopt;
  return is_webhook ? read_webhook(*inner) : read_mail(*inner);
}

}  // namespace

Destinations parse_destinations(std::string_view text, Report& report) {
  Destinations found;
  const std::vector<Node> documents = parse_yaml(text, report, {.bytes = kMostDestinationsBytes});
  if (documents.size() > 1) {
    report.error(documents[1].position(), "", "the file has a second document", "keep one, without --- in between");
  }
  if (documents.empty() || documents.front().is_null()) return found;
  const Node& root = documents.front();
  const auto* map = root.as<Node::Map>();
  if (map == nullptr) {
    report.error(root.position(), "", "destinations must be a map of names", "write ops: {webhook: {url: https://…}}");
    return found;
  }
  if (map->size() > kMostDestinationsOfAFile) {
    report.error(root.position(), "",
                 "the file has more than " + std::to_string(kMostDestinationsOfAFile) + " destinations",
                 "leave out those that no job names");
    return found;
  }
  for (const Node::Member& member : *map) {
    if (!is_destination_name(member.key)) {
      report.error(member.position, member.key, quoted(member.key) + " is no name of a destination",
                   "names are lower-case letters, digits and . _ -");
      continue;
    }
    if (member.value.as<Node::Map>() == nullptr) {
      report.error(member.position, member.key, "a destination must be a map",
                   "write webhook:, mail: or command: below");
      continue;
    }
    std::vector<Error> errors;
    std::optional<Destination> destination = read_destination(Fields(member.value, "", errors));
    report.errors(errors, member.value);
    if (destination && errors.empty()) found.emplace(member.key, *std::move(destination));
  }
  return found;
}

Result<Destinations> load_destinations(const std::string& path, Trust trust) {
  const Result<std::string> text = contents_of(path, trust);
  if (!text) return fail(text.error().code, path + ": " + text.error().message);
  Report report(path, *text);
  Destinations found = parse_destinations(*text, report);
  if (report.error_count() == 0) return found;
  const auto first = std::ranges::find(report.problems(), Severity::error, &Problem::severity);
  return fail(Code::invalid, text_of(*first));
}

std::vector<Problem> unknown_destinations(std::span<const JobDefinition> definitions, const Destinations& known) {
  std::vector<std::string_view> names;
  for (const auto& [name, one] : known) names.emplace_back(name);
  std::vector<Problem> problems;
  for (const JobDefinition& definition : definitions) {
    if (!definition.options->notify) continue;
    for (const std::string& name : definition.options->notify->to) {
      if (known.contains(name)) continue;
      const std::string nearest(nearest_word(name, names));
      Problem& problem = problems.emplace_back();
      problem.severity = Severity::warning;
      problem.file = *definition.file;
      problem.at = {definition.line, 1};
      problem.field = "notify.to";
      problem.message = quoted(definition.job.identity, 200) + " tells " + quoted(name) + ", which is no destination";
      problem.cure = nearest.empty() ? "add it to the file of destinations" : "did you mean " + nearest + "?";
    }
  }
  return problems;
}

std::string summary_of(const Destination& destination) {
  if (const auto* webhook = std::get_if<Webhook>(&destination)) {
    const std::size_t host = webhook->url.find("://") + 3;
    return "webhook " + webhook->url.substr(0, webhook->url.find_first_of("/?", host)) +
           (webhook->secret_file.empty() ? "" : ", signed");
  }
  if (const auto* mail = std::get_if<Mail>(&destination)) {
    std::string list;
    for (const std::string& address : mail->to) list += (list.empty() ? "" : ", ") + address;
    return "mail to " + list;
  }
  return "command " + std::get<NotifyCommand>(destination).words.front();
}

}  // namespace kron::jobs
