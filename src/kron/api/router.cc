#include "kron/api/router.h"

#include <algorithm>
#include <utility>

#include "kron/base/text.h"

namespace kron::api {
namespace {

std::vector<std::string> segments_of(std::string_view pattern) {
  std::vector<std::string> segments;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    segments.emplace_back(pattern.substr(0, end));
    pattern.remove_prefix(end);
  }
  return segments;
}

bool is_name(const std::string& segment) { return segment.starts_with('{'); }

std::optional<std::vector<std::string>> matched(const std::vector<std::string>& pattern,
                                                const std::vector<std::string>& segments) {
  if (pattern.size() != segments.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (is_name(pattern[i]) && !segments[i].empty()) {
      names.push_back(segments[i]);
    } else if (pattern[i] != segments[i]) {
      return std::nullopt;
    }
  }
  return names;
}

}  // namespace

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (const Route& route : routes_) patterns_.push_back(segments_of(route.pattern));
}

std::variant<Router::Found, http::Response> Router::find(std::string_view method,
                                                         const std::vector<std::string>& segments) const {
  std::string allowed;
  std::optional<Found> found;
  for (std::size_t i = 0; i < routes_.size(); ++i) {
    auto names = matched(patterns_[i], segments);
    if (!names) continue;
    if (routes_[i].method == method || (method == "HEAD" && routes_[i].method == "GET")) {
      // A pattern that spells the path out is meant rather than one that names it.
      if (!found || names->size() < found->names.size()) found = Found{&routes_[i], *std::move(names)};
      continue;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(routes_[i].method);
    if (routes_[i].method == "GET") allowed += ", HEAD";
  }
  if (found) return *std::move(found);
  if (allowed.empty()) {
    return http::problem({Code::not_found, "there is nothing at this path; /api/v1/openapi.json lists what there is"});
  }
  http::Response response = http::problem(405, "this path does not know the method; it knows " + allowed);
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

std::optional<Error> wrong_parameter(const http::Request& request, const Route& route) {
  for (std::size_t i = 0; i < request.query.size(); ++i) {
    const std::string& name = request.query[i].first;
    if (std::ranges::find(route.parameters, name) == route.parameters.end()) {
      const std::string_view meant = nearest_word(name, route.parameters);
      const std::string hint = meant.empty() ? "" : "; did you mean " + std::string(meant) + "?";
      return Error{Code::invalid, "there is no parameter " + quoted(name) + hint, name};
    }
    const auto same_name = [&](const auto& other) { return other.first == name; };
    if (std::ranges::count_if(request.query, same_name) > 1) {
      return Error{Code::invalid, "the parameter " + quoted(name) + " is given twice", name};
    }
  }
  return std::nullopt;
}

}  // namespace kron::api
