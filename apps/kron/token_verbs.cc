#include "token_verbs.h"

#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

#include "answer_text.h"
#include "daemon_client.h"
#include "flag_values.h"
#include "kron/env/descriptor.h"
#include "kron/env/system_error.h"
#include "kron/json/writer.h"
#include "lines.h"

namespace kron::cli {
namespace {

constexpr std::string_view kTokenVerb = "token";

// Made before there is a token: one that cannot be kept is not asked for.
class TokenFile {
 public:
  static Result<TokenFile> create(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return fail(system_error("create", path, errno));
    return TokenFile(path, std::move(file));
  }
  TokenFile(TokenFile&&) noexcept = default;
  TokenFile& operator=(TokenFile&&) = delete;
  ~TokenFile() {
    if (file_ && !is_kept_) ::unlink(path_.c_str());
  }

  Status keep(const std::string& token) {
    const std::string line = token + "\n";
    const ssize_t written = ::write(file_.get(), line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size()) || ::fsync(file_.get()) != 0) {
      return fail(system_error("write", path_, errno));
    }
    is_kept_ = true;
    return {};
  }

 private:
  TokenFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  Descriptor file_;
  bool is_kept_ = false;
};

std::string request_for(const TokenOptions& options) {
  JsonWriter json;
  json.begin_map().member("name", options.name).member("role", options.role);
  if (!options.expires.empty()) json.member("expiresIn", options.expires);
  return json.end_map().take();
}

std::string expiry_of(const Node& token, const ScreenTimes& times) {
  const std::string at = text_in(token, "expiresAt");
  return at.empty() ? "never" : times.at(at);
}

int print_created(const TokenOptions& options, const Node& answer, const ScreenTimes& times) {
  // The token alone is on standard output, so that it can be piped to where it belongs.
  std::printf("%s\n", text_in(answer, "token").c_str());
  std::fflush(stdout);
  std::fprintf(stderr, "This is token %s, named %s, role %s, expires: %s. Keep it now: nobody can show it again.\n",
               text_in(answer, "id").c_str(), harmless(options.name).c_str(), options.role.c_str(),
               expiry_of(answer, times).c_str());
  return 0;
}

int keep_created(const TokenOptions& options, TokenFile& file, const Node& answer, const ScreenTimes& times) {
  const std::string id = text_in(answer, "id");
  if (const Status kept = file.keep(text_in(answer, "token")); !kept) {
    Error error = kept.error();
    error.message += "; the token is lost: kron token revoke " + id;
    return refuse(kTokenVerb, error, options.json);
  }
  if (options.json) {
    JsonWriter json;
    json.begin_map().member("id", id).member("name", options.name).member("file", options.out).end_map();
    std::printf("%s\n", json.take().c_str());
    return 0;
  }
  std::printf("wrote token %s, role %s, expires: %s, to %s\n", id.c_str(), options.role.c_str(),
              expiry_of(answer, times).c_str(), options.out.c_str());
  return 0;
}

}  // namespace

int create_token(const TokenOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse(kTokenVerb, client.error(), options.json);
  std::optional<TokenFile> file;
  if (!options.out.empty()) {
    auto created = TokenFile::create(options.out);
    if (!created) return refuse(kTokenVerb, created.error(), options.json);
    file.emplace(*std::move(created));
  }
  const auto body = client->post(Target("tokens"), request_for(options));
  if (!body) return refuse(kTokenVerb, body.error(), options.json);
  const auto answer = parsed_answer(*body);
  if (!answer) return refuse(kTokenVerb, answer.error(), options.json);
  const ScreenTimes times = screen_times(options.times);
  if (file) return keep_created(options, *file, *answer, times);
  if (!options.json) return print_created(options, *answer, times);
  std::printf("%s\n", body->c_str());
  return 0;
}

int list_tokens(const DaemonOptions& options) {
  auto client = DaemonClient::open(options);
  if (!client) return refuse(kTokenVerb, client.error(), options.json);
  const ScreenTimes times = screen_times(options.times);
  return answered(kTokenVerb, options.json, client->get(Target("tokens")), [&](const Node& answer) {
    Table table({"ID", "NAME", "ROLE", "CREATED", "BY", "EXPIRES", "LAST USED"});
    for (const Node& token : list_in(answer, "tokens")) {
      table.add({text_in(token, "id"), harmless(text_in(token, "name")), text_in(token, "role"),
                 times.at(text_in(token, "createdAt")), harmless(text_in(token, "createdBy")), expiry_of(token, times),
                 or_dash(times.near(text_in(token, "lastUsedAt")))});
    }
    table.print();
  });
}

int revoke_token(const RevokeOptions& options) {
  if (options.sessions == !options.id.empty()) {
    return refuse(kTokenVerb, {Code::unreadable, "say which: kron token revoke ID, or --sessions"}, options.json);
  }
  auto client = DaemonClient::open(options);
  if (!client) return refuse(kTokenVerb, client.error(), options.json);
  const auto body =
      options.sessions ? client->remove(Target("sessions")) : client->remove(Target("tokens").segment(options.id));
  if (!body) return refuse(kTokenVerb, body.error(), options.json);
  if (options.sessions) {
    std::printf("%s\n", options.json ? "{}" : "ended all sessions");
    return 0;
  }
  return answered(kTokenVerb, options.json, body, [](const Node& answer) {
    std::printf("revoked %s, named %s\n", text_in(answer, "id").c_str(), harmless(text_in(answer, "name")).c_str());
  });
}

}  // namespace kron::cli
