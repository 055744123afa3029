#include "krond_place.h"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <sys/stat.h>

#include "kron/base/text.h"
#include "kron/env/places.h"
#include "kron/env/small_file.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostTokenFile = std::size_t{64} << 10;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string first_of(const std::string& flag, const char* name) { return flag.empty() ? variable(name) : flag; }

// Once for each file, however often it is read.
void warn_of_readers(const std::string& file, mode_t mode) {
  static std::set<std::string> warned;
  if (!S_ISREG(mode) || (mode & (S_IRGRP | S_IROTH)) == 0 || !warned.insert(file).second) return;
  std::fprintf(stderr, "kron: warning: others can read the token in %s; `chmod 600` it\n", quoted(file, 200).c_str());
}

// Never a flag with the token itself: everybody on this host sees the words of a command.
Result<std::string> token_of(const KrondOptions& options) {
  const std::string file = first_of(options.token_file, "KRON_TOKEN_FILE");
  const std::string given = file.empty() ? variable("KRON_TOKEN") : std::string();
  if (file.empty() && given.empty()) return std::string();
  std::string text = given;
  std::string where = "$KRON_TOKEN";
  if (!file.empty()) {
    auto read = read_small_file(file, kMostTokenFile);
    if (!read) return fail(read.error());
    warn_of_readers(file, read->mode);
    text = std::move(read->text);
    where = "the token file " + quoted(file, 200);
  }
  auto token = http::parse_token(text);
  if (!token) return fail(Code::unreadable, where + " cannot be used: " + token.error().message);
  return token;
}

Result<http::Endpoint> remote_place(const std::string& text, const KrondOptions& options) {
  const auto url = http::parse_url(text);
  if (!url) return fail(Code::unreadable, (options.url.empty() ? "$KRON_URL: " : "--url: ") + url.error().message);
  auto token = token_of(options);
  if (!token) return fail(token.error());
  http::Endpoint place;
  place.host = url->host;
  place.port = url->port;
  place.token = *std::move(token);
  if (url->is_tls) {
    auto context = http::TlsContext::for_client(first_of(options.ca_file, "KRON_CA_FILE"));
    if (!context) return fail(context.error());
    place.tls = *std::move(context);
  }
  return place;
}

}  // namespace

Result<std::string> socket_path(const std::string& given, const std::string& state_dir) {
  if (!given.empty()) return absolute_path(given);
  if (!state_dir.empty()) return default_socket(absolute_path(state_dir));
  if (const std::string named = variable("KRON_SOCKET"); !named.empty()) return absolute_path(named);
  const Result<std::string> usual = default_state_directory();
  if (!usual) return fail(usual.error().code, "there is no home directory for a state directory; use --socket");
  return default_socket(*usual);
}

Result<http::Endpoint> krond_place(const KrondOptions& options) {
  const bool is_here = !options.socket.empty() || !options.state_dir.empty();
  if (is_here && !options.url.empty()) {
    return fail(Code::unreadable, "--url names a krond, and --socket or --state-dir another; give one of them");
  }
  const std::string url = is_here ? std::string() : first_of(options.url, "KRON_URL");
  if (!url.empty()) return remote_place(url, options);
  for (const auto& [flag, value] : {std::pair{"--token-file", &options.token_file}, {"--ca-file", &options.ca_file}}) {
    if (value->empty()) continue;
    return fail(Code::unreadable,
                std::string(flag) + " is for a krond at --url; on its socket the kernel says who asks");
  }
  auto path = socket_path(options.socket, options.state_dir);
  if (!path) return fail(path.error());
  return http::Endpoint(*std::move(path));
}

}  // namespace kron::cli
