#include "web_address.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <pwd.h>
#include <sstream>
#include <utility>
#include <vector>

#include "kron/base/text.h"

namespace kron::cli {
namespace {

constexpr int kPortsTried = 20;

std::string host_and_port(std::string_view host, std::uint16_t port) {
  return std::string(host) + ":" + std::to_string(port);
}

std::string name_of_user(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry == nullptr ? "uid " + std::to_string(user) : std::string(entry->pw_name);
}

std::string who_has(std::uint16_t port) {
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (const auto user = user_listening(text, port)) return "a program of " + name_of_user(*user) + " does";
  }
  return "another program does";
}

Result<WebPort> open_both(std::uint16_t port, const http::TcpListener::Identify& identify) {
  auto first = http::TcpListener::open(host_and_port("127.0.0.1", port), identify);
  if (!first) return fail(first.error());
  WebPort opened{.listeners = {}, .port = first->port()};
  auto second = http::TcpListener::open(host_and_port("[::1]", opened.port), identify);
  if (!second && second.error().code == Code::conflict) return fail(second.error());
  opened.listeners.push_back(std::make_unique<http::TcpListener>(*std::move(first)));
  if (second) opened.listeners.push_back(std::make_unique<http::TcpListener>(*std::move(second)));
  return opened;
}

}  // namespace

Result<std::uint16_t> loopback_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const char* const digits = colon == std::string::npos ? end : address.data() + colon + 1;
  const auto [stop, error] = std::from_chars(digits, end, port);
  if (host.empty() || error != std::errc() || stop != end) {
    return fail(Code::invalid, quoted(address, 200) + " is no address to listen on; write 127.0.0.1:8126", "--listen");
  }
  if (host != "127.0.0.1" && host != "[::1]" && host != "localhost") {
    return fail(Code::refused,
                "kron web serves this machine alone, as 127.0.0.1 and [::1]: what it sends is not encrypted; from "
                "another machine use ssh -L 8126:127.0.0.1:8126",
                "--listen");
  }
  return port;
}

Result<WebPort> open_loopback(std::uint16_t port, bool next_if_taken, const http::TcpListener::Identify& identify) {
  const bool is_any = port == 0;  // of those that are free on one address, some are taken on the other
  const int tried = next_if_taken || is_any ? kPortsTried : 1;
  Error taken;
  for (int i = 0; i < tried && port + i <= 65535; ++i) {
    auto opened = open_both(is_any ? std::uint16_t{0} : static_cast<std::uint16_t>(port + i), identify);
    if (opened || opened.error().code != Code::conflict) return opened;
    taken = opened.error();
  }
  if (tried > 1) return fail(taken);
  return fail(Code::conflict, "cannot listen on port " + std::to_string(port) + ": " + who_has(port) +
                                  "; name another with --listen 127.0.0.1:PORT");
}

std::optional<uid_t> user_listening(std::string_view table, std::uint16_t port) {
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    constexpr std::size_t kLocal = 1;
    constexpr std::size_t kState = 3;
    constexpr std::size_t kUser = 7;
    if (fields.size() <= kUser || fields[kState] != "0A") continue;
    const std::string& local = fields[kLocal];
    const std::size_t colon = local.rfind(':');
    unsigned found = 0;
    if (colon == std::string::npos) continue;
    std::from_chars(local.data() + colon + 1, local.data() + local.size(), found, 16);
    uid_t user = 0;
    const std::string& text = fields[kUser];
    if (found != port || std::from_chars(text.data(), text.data() + text.size(), user).ec != std::errc()) continue;
    return user;
  }
  return std::nullopt;
}

}  // namespace kron::cli
