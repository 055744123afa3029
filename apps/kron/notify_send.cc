#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kron/base/hmac.h"
#include "kron/base/text.h"
#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"
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

// Runs the program with this on its standard input; its output is ours. Who runs us limits the time.
Status run_program(const std::vector<std::string>& words, const std::string& input) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(system_error("make a pipe for", words[0], errno));
  Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return fail(system_error("start", words[0], errno));
  if (child == 0) {
    ::dup2(out.get(), STDIN_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  out = Descriptor();
  ::signal(SIGPIPE, SIG_IGN);
  for (std::size_t at = 0; at < input.size();) {
    const ssize_t written = ::write(in.get(), input.data() + at, input.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;  // it reads no more; its exit status tells
    at += static_cast<std::size_t>(written);
  }
  in = Descriptor();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return fail(Code::unreachable, "cannot execute " + words[0] + ", or it ended with status 127");
  }
  return fail(Code::unreachable,
              words[0] + (WIFEXITED(status) ? " ended with status " + std::to_string(WEXITSTATUS(status))
                                            : " was ended by signal " + std::to_string(WTERMSIG(status))));
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

  Status operator()(const jobs::Webhook& webhook) const { return post(webhook, body, id); }
  Status operator()(const jobs::Mail& mail) const {
    return run_program({mail.sendmail, "-t", "-i"}, mail_text(mail, body, id));
  }
  Status operator()(const jobs::NotifyCommand& command) const { return run_program(command.words, body + "\n"); }
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

Status send_message(const jobs::Destination& destination, const std::string& body, const std::string& id) {
  return std::visit(Send{body, id}, destination);
}

}  // namespace kron::cli
