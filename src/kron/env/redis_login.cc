#include "kron/env/redis_login.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "kron/base/text.h"

namespace kron {
namespace {

constexpr std::string_view kClientName = "kron";

std::string_view code_of(std::string_view error) { return error.substr(0, error.find(' ')); }

bool has_code(const RedisReply& reply, std::string_view code) {
  return reply.how == RedisReply::How::error && code_of(reply.why) == code;
}

// What the server is asked before it is used.
struct LoginCommands {
  std::vector<RedisCommand> commands;
  std::optional<std::size_t> auth;
  std::optional<std::size_t> select;
};

LoginCommands login_commands(const RedisUrl& url, const std::string& route_key) {
  LoginCommands login;
  if (!url.password.empty()) {
    login.auth = login.commands.size();
    login.commands.push_back(url.user.empty() ? RedisCommand{"AUTH", url.password}
                                              : RedisCommand{"AUTH", url.user, url.password});
  }
  if (url.db != 0) {
    login.select = login.commands.size();
    login.commands.push_back({"SELECT", std::to_string(url.db)});
  }
  // Only for people who look at CLIENT LIST; it may be forbidden.
  login.commands.push_back({"CLIENT", "SETNAME", std::string(kClientName)});
  // Whether it is ready, and in a cluster whether it is the right one.
  login.commands.push_back(route_key.empty() ? RedisCommand{"PING"} : RedisCommand{"EXISTS", route_key});
  return login;
}

// Why the server does not let us in; nothing when it does.
std::optional<Error> login_problem(const LoginCommands& login, const std::vector<RedisReply>& replies,
                                   const RedisAddress& address) {
  const std::string who = "Redis at " + text_of(address);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const RedisReply& reply = replies[i];
    if (reply.how == RedisReply::How::lost || reply.how == RedisReply::How::not_sent) {
      return Error{Code::unreachable, reply.why};
    }
    if (reply.how != RedisReply::How::error) continue;
    const std::string said = ": " + quoted(reply.why, 200);
    if (reply.why.starts_with("ERR max number of clients")) return Error{Code::unreachable, who + said};
    if (has_code(reply, "DENIED")) return Error{Code::refused, who + " does not let us in" + said};
    if (has_code(reply, "NOAUTH")) {
      return Error{Code::refused,
                   who + " wants a password" + said + "; write it as redis://:password@… or user:password@…"};
    }
    if (i == login.auth) {
      return Error{Code::refused, who + " does not accept user and password" + said +
                                      "; see ACL LIST there, and write special characters as %40 and the like"};
    }
    if (i == login.select) {
      return Error{Code::refused,
                   who + " does not let us into the database" + said + "; see `databases` in redis.conf"};
    }
    if (is_wrong_server(reply.why)) return Error{Code::unreachable, who + " is not ready" + said};
  }
  return std::nullopt;
}

}  // namespace

std::optional<RedisRedirect> redirect_of(std::string_view error, const RedisAddress& from) {
  const std::string_view code = code_of(error);
  if (code == "TRYAGAIN") return RedisRedirect{RedisRedirect::Kind::try_again};
  if (code != "MOVED" && code != "ASK") return std::nullopt;
  // CODE slot host:port, where the host may be IPv6 without brackets, a name, empty or "?".
  const std::size_t space = error.rfind(' ');
  const std::size_t colon = error.rfind(':');
  if (colon == std::string_view::npos || space == code.size() || colon < space) return std::nullopt;
  RedisRedirect redirect;
  redirect.kind = code == "ASK" ? RedisRedirect::Kind::ask : RedisRedirect::Kind::moved;
  redirect.address.host = error.substr(space + 1, colon - space - 1);
  if (redirect.address.host.empty() || redirect.address.host == "?") redirect.address.host = from.host;
  const std::string_view port = error.substr(colon + 1);
  const auto [stop, problem] = std::from_chars(port.data(), port.data() + port.size(), redirect.address.port);
  if (problem != std::errc() || stop != port.data() + port.size() || redirect.address.port == 0) return std::nullopt;
  return redirect;
}

bool is_wrong_server(std::string_view error) {
  const std::string_view code = code_of(error);
  return code == "READONLY" || code == "LOADING" || code == "MASTERDOWN" || code == "CLUSTERDOWN" ||
         error.find("-READONLY ") != std::string_view::npos;  // as Redis 6 quotes it from within a script
}

Result<RedisLogin> log_in_to_redis(const RedisAddress& address, const RedisUrl& url, const std::string& route_key,
                                   Deadline deadline) {
  Result<std::unique_ptr<RedisSession>> session = RedisSession::open(address, url.tls, deadline);
  if (!session) return fail(session.error());
  const LoginCommands login = login_commands(url, route_key);
  const std::vector<RedisReply> replies = (*session)->exchange(login.commands, deadline);
  if (std::optional<Error> problem = login_problem(login, replies, address)) return fail(std::move(*problem));
  const RedisReply& probe = replies.back();
  std::optional<RedisRedirect> redirect;
  if (probe.how == RedisReply::How::error) redirect = redirect_of(probe.why, address);
  // While a slot is being moved it is still here.
  if (redirect && redirect->kind != RedisRedirect::Kind::moved) redirect.reset();
  return RedisLogin{std::move(*session), redirect};
}

}  // namespace kron
