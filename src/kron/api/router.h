#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kron/api/access.h"
#include "kron/api/call.h"
#include "kron/http/limits.h"
#include "kron/http/message.h"

namespace kron::api {

inline constexpr std::size_t kUsualBody = http::kSmallBody;

struct Route {
  std::string_view method;
  std::string_view pattern;  // /api/v1/jobs/{name}/trigger
  Right needs = Right::read;
  std::function<void(const CallPtr&)> answer;
  std::vector<std::string_view> parameters = {};  // of the query; others are refused
  std::size_t most_body = kUsualBody;
};

// Which route a request means.
class Router {
 public:
  explicit Router(std::vector<Route> routes);

  struct Found {
    const Route* route;
    std::vector<std::string> names;  // what stands for the pattern's {…}
  };
  // The route, or the answer that there is none: 404, or 405 with the methods there are. HEAD is GET.
  std::variant<Found, http::Response> find(std::string_view method, const std::vector<std::string>& segments) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  std::vector<std::vector<std::string>> patterns_;  // the segments of each
};

// A refusal when the query has a parameter that the route does not know, or one twice.
std::optional<Error> wrong_parameter(const http::Request& request, const Route& route);

}  // namespace kron::api
