#include "kron/operator/counted_transport.h"

#include <utility>
#include <variant>
#include <vector>

namespace kron::kronjobs {
namespace {

std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '/' ? 1 : 0);
    const std::size_t end = std::min(path.find('/'), path.size());
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

std::string code_text(const kube::Outcome& outcome) {
  if (const auto* response = std::get_if<kube::Response>(&outcome)) return std::to_string(response->code);
  return std::get<kube::Broken>(outcome).failure == kube::Failure::not_sent ? "not_sent" : "unknown";
}

}  // namespace

// apis/<group>/<version>[/namespaces/<namespace>]/<resource>[/<name>[/<part>]]
RequestKind kind_of(const kube::Request& request) {
  const std::vector<std::string_view> parts = path_parts(request.path);
  const std::size_t at = parts.size() > 4 && parts[3] == "namespaces" ? 5 : 3;
  RequestKind kind{.verb = {}, .resource = parts.size() > at ? std::string(parts[at]) : std::string("other")};
  if (parts.size() > at + 2) kind.resource += "/" + std::string(parts[at + 2]);
  const bool is_collection = parts.size() <= at + 1;
  switch (request.verb) {
    case kube::Verb::get:
      kind.verb = is_collection ? "list" : "get";
      if (request.query.find("watch=1") != std::string::npos) kind.verb = "watch";
      break;
    case kube::Verb::create:
      kind.verb = request.query.find("dryRun=") != std::string::npos ? "dry-run" : "create";
      break;
    case kube::Verb::update:
      kind.verb = "update";
      break;
    case kube::Verb::patch:
      kind.verb = "patch";
      break;
    case kube::Verb::remove:
      kind.verb = "delete";
      break;
  }
  return kind;
}

void CountedTransport::note_date(const kube::Outcome& outcome) {
  const auto* response = std::get_if<kube::Response>(&outcome);
  if (response == nullptr || !response->date) return;
  // It is cut to the second: half of one is the best guess of what is missing.
  skew_ = WallTime(*response->date) + std::chrono::milliseconds(500) - clock_.wall();
  metrics_.clock_skew(skew_);
}

kube::Transport::OnEnd CountedTransport::counted(const kube::Request& request, OnEnd on_end) {
  return
      [this, kind = kind_of(request), began = clock_.monotonic(), on_end = std::move(on_end)](kube::Outcome outcome) {
        metrics_.request_ended(kind.verb, kind.resource, code_text(outcome), clock_.monotonic() - began);
        if (kind.verb != "watch") note_date(outcome);
        on_end(std::move(outcome));
      };
}

kube::Transport::Id CountedTransport::send(kube::Request request, kube::Lane lane, OnEnd on_end) {
  OnEnd end = counted(request, std::move(on_end));
  return way_.send(std::move(request), lane, std::move(end));
}

kube::Transport::Id CountedTransport::open(kube::Request request, OnBytes on_bytes, OnEnd on_end) {
  OnEnd end = counted(request, std::move(on_end));
  return way_.open(std::move(request), std::move(on_bytes), std::move(end));
}

}  // namespace kron::kronjobs
