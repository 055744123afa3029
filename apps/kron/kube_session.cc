#include "kube_session.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <utility>
#include <vector>

#include "answer_text.h"
#include "kron/base/text.h"
#include "kron/jobs/disk.h"
#include "kron/kube/api_error.h"
#include "kron/kube/curl_transport.h"
#include "kron/kube/wire.h"
#include "kron/operator/options.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostSaid = 500;

std::optional<std::string> kube_variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

// As kubectl does: files that the variable names and that are not there are passed by; one that is named by a flag must
// be there.
Result<std::vector<kube::ConfigFile>> config_files(const KubeOptions& options) {
  std::vector<std::string> paths{options.kubeconfig};
  if (options.kubeconfig.empty()) {
    paths = kube::kubeconfig_paths(kube_variable("KUBECONFIG").value_or(""), kube_variable("HOME").value_or(""));
  }
  std::vector<kube::ConfigFile> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (options.kubeconfig.empty() && !std::filesystem::exists(path, ignored)) continue;
    Result<std::string> text = jobs::contents_of(path);
    if (!text) return fail(Code::unreadable, path + ": " + text.error().message);
    files.push_back({std::filesystem::absolute(path, ignored).string(), *std::move(text)});
  }
  return files;
}

Result<kube::Connection> own_account() {
  const Result<std::string> ns = jobs::contents_of(std::string(kube::kServiceAccount) + "/namespace");
  return kube::in_cluster(kube_variable, ns.value_or(""));
}

Error usage_of(Error error) {
  error.code = Code::unreadable;
  error.field.clear();
  return error;
}

}  // namespace

Result<kube::Connection> connection_of(const KubeOptions& options) {
  const auto files = config_files(options);
  if (!files) return fail(files.error());
  if (files->empty()) {
    Result<kube::Connection> own = own_account();
    if (own && options.context.empty()) return own;
    return fail(kronjobs::no_kubeconfig(kube_variable("KUBECONFIG").value_or("")));
  }
  Result<kube::Connection> read = kube::read_kubeconfig(*files, options.context);
  if (!read) return fail(usage_of(read.error()));
  return read;
}

Error error_of_api(const kube::Answer& answer, const std::string& what) {
  const std::optional<kube::ApiError> refusal = kube::error_in(answer);
  const std::string said = refusal ? quoted(refusal->message, kMostSaid) : std::string();
  switch (answer.code) {
    case 401:
      return {Code::refused,
              "the API server does not know who asks: " + said + "; look at the user of the context in the kubeconfig"};
    case 403:
      return {Code::refused, "the API server does not allow it: " + said +
                                 "; docs/kubernetes-commands.md has the rights that each verb needs"};
    case 404:
      // Of an object that is not there the server tells the name; of a kind that it does not know it does not.
      if (refusal->reason == "NotFound" && refusal->message.find("requested resource") == std::string::npos) {
        return {Code::not_found, "there is no " + what};
      }
      return {Code::not_found, "the cluster has no KronJobs of kron.io/v1alpha1; install the CRD of Kron's operator"};
    case 409:
      return {Code::conflict, "the API server says: " + said};
    case 400:
    case 413:
    case 422:
      return {Code::invalid, "the API server refuses it: " + said};
    default:
      return {Code::unreachable, "the API server cannot answer now: " + said};
  }
}

Result<KubeSession> KubeSession::open(const KubeOptions& options) {
  Result<kube::Connection> connection = connection_of(options);
  if (!connection) return fail(connection.error());
  if (connection->is_unverified) {
    std::fprintf(stderr, "kron kube: insecure-skip-tls-verify: anybody may be the API server %s\n",
                 harmless(connection->server).c_str());
  }
  KubeSession session;
  session.ns_ = options.ns.empty() ? connection->ns : options.ns;
  session.server_ = connection->server;
  session.clock_ = std::make_unique<RealClock>();
  session.mailbox_ = std::make_unique<Mailbox>();
  kube::Credentials credentials(*std::move(connection),
                                [](const std::string& path) { return jobs::contents_of(path); });
  auto transport = kube::CurlTransport::start(std::move(credentials), *session.clock_, *session.mailbox_);
  if (!transport) return fail(transport.error());
  session.transport_ = *std::move(transport);
  return session;
}

Result<kube::Answer> KubeSession::ask(kube::Request request, kube::Lane lane) {
  std::optional<kube::Outcome> outcome;
  transport_->send(std::move(request), lane, [&outcome](kube::Outcome end) { outcome = std::move(end); });
  while (!outcome) {  // every request ends: the transport has its limits
    pollfd waited{.fd = mailbox_->descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, -1);
    mailbox_->work_off(Seconds(1));
  }
  if (const auto* broken = std::get_if<kube::Broken>(&*outcome)) {
    const std::string why = quoted(broken->message, kMostSaid);
    if (broken->failure == kube::Failure::not_sent) {
      return fail(Code::unreachable, "the API server " + server_ + " cannot be reached: " + why);
    }
    return fail(Code::unreachable,
                "the answer of the API server was lost, so this may or may not have happened: " + why);
  }
  kube::Reply reply = kube::reply_of(*outcome);
  if (auto* answer = std::get_if<kube::Answer>(&reply)) return std::move(*answer);
  return fail(Code::unreachable, "the API server answered with something that is no JSON; is " + server_ + " one?");
}

void KubeSession::pause(Nanoseconds length) {
  ::poll(nullptr, 0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(length).count()));
}

}  // namespace kron::cli
