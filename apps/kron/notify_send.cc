#include <algorithm>

#include "kron/base/hmac.h"
#include "kron/base/text.h"
#include "kron/http/client.h"
#include "kron/json/document.h"
#include "notify_verbs.h"

namespace kron::cli {
namespace {

constexpr Seconds kWebhookTimeout{30};
constexpr std::size_t kMostSecretBytes = 4096;

// The one line that a file with a secret holds.
Result<std::string> secret_in(const std::string& path) {
  const Result<std::string> text = jobs::contents_of(path, jobs::Trust::own_only);
  if (!text) return fail(text.error());
  std::string secret(trimmed(*text));
  if (secret.empty() || secret.size() > kMostSecretBytes) {
    return fail(Code::invalid, path + " must hold a secret of 1 to " + std::to_string(kMostSecretBytes) + " bytes");
  }
  return secret;
}

Status post(const jobs::Webhook& webhook, const std::string& body, const std::string& id) {
  const std::size_t authority = webhook.url.find("://") + 3;
  const std::size_t path = std::min(webhook.url.find_first_of("/?", authority), webhook.url.size());
  const Result<http::Url> url = http::parse_url(webhook.url.substr(0, path));
  if (!url) return fail(url.error());
  http::Endpoint server;
  server.host = url->host;
  server.port = url->port;
  if (url->is_tls) {
    auto context = http::TlsContext::for_client(webhook.ca_file);
    if (!context) return fail(context.error());
    server.tls = *std::move(context);
  }
  http::Fields headers{{"Kron-Message", id}};
  if (!webhook.secret_file.empty()) {
    const Result<std::string> secret = secret_in(webhook.secret_file);
    if (!secret) return fail(secret.error());
    headers.push_back({"Kron-Signature", "sha256=" + hex(hmac_sha256(*secret, {body}))});
  }
  std::string target = webhook.url.substr(path);
  if (!target.starts_with('/')) target.insert(0, "/");
  http::Client client(server, {.timeout = kWebhookTimeout, .cure = "is the receiver up?"});
  const Result<http::Response> answer = client.request("POST", target, body, headers);
  if (!answer) return fail(answer.error());
  if (answer->status >= 200 && answer->status < 300) return {};
  return fail(Code::unreachable, "the receiver has answered with status " + std::to_string(answer->status));
}

// Fit for a header: one line of ASCII.
std::string header_text(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string line;
  for (const char c : text.substr(0, kLongest)) line += c >= 0x20 && c < 0x7F ? c : '?';
  return line;
}

struct Send {
  const std::string& body;
  const std::string& id;
  std::optional<Seconds> limit;

  Status operator()(const jobs::Webhook& webhook) const { return post(webhook, body, id); }
  Status operator()(const jobs::Mail& mail) const {
    return run_program({mail.sendmail, "-t", "-i"}, mail_text(mail, body, id), limit);
  }
  Status operator()(const jobs::NotifyCommand& command) const { return run_program(command.words, body + "\n", limit); }
};

}  // namespace

std::string mail_text(const jobs::Mail& mail, const std::string& body, const std::string& id) {
  const Result<Node> message = parse_json(body);
  const auto text_of = [&](std::string_view key) {
    const Node* value = message ? message->find(key) : nullptr;
    const auto* text = value != nullptr ? value->as<std::string>() : nullptr;
    return text != nullptr ? *text : std::string();
  };
  std::string to;
  for (const std::string& address : mail.to) to += (to.empty() ? "" : ", ") + address;
  std::string mail_lines = "To: " + to + "\n";
  if (!mail.from.empty()) mail_lines += "From: " + mail.from + "\n";
  mail_lines += "Subject: [kron] " + header_text(text_of("text")) + "\n";
  mail_lines += "X-Kron-Message: " + header_text(id) + "\n";
  mail_lines +=
      "Auto-Submitted: auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
      "Content-Transfer-Encoding: 8bit\n\n";
  mail_lines += text_of("text") + "\n\n";
  for (const char* key : {"job", "kind", "period", "firstPeriod", "at", "runId", "reason", "host"}) {
    if (const std::string value = text_of(key); !value.empty()) mail_lines += std::string(key) + ": " + value + "\n";
  }
  return mail_lines;
}

Status send_message(const jobs::Destination& destination, const std::string& body, const std::string& id,
                    std::optional<Seconds> limit) {
  return std::visit(Send{body, id, limit}, destination);
}

}  // namespace kron::cli
