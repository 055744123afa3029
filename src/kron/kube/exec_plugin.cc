#include "kron/kube/exec_plugin.h"

#include "kron/base/rfc3339.h"
#include "kron/base/text.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"
#include "kron/kube/base64.h"
#include "kron/kube/object.h"

namespace kron::kube {

Result<ExecCredential> read_exec_credential(std::string_view text, const ExecPlugin& plugin) {
  const auto refuse = [&](const std::string& why) {
    return fail(Code::invalid, "the exec plug-in " + quoted(plugin.command, 80) + " " + why, "exec");
  };
  const Result<Node> document = parse_json(text);
  if (!document) return refuse("has printed something that is no JSON");
  if (text_at(*document, {"kind"}) != "ExecCredential") return refuse("has printed no ExecCredential");
  if (text_at(*document, {"apiVersion"}) != plugin.api_version) {
    return refuse("has printed an ExecCredential of another apiVersion than " + plugin.api_version);
  }
  ExecCredential credential{.token = text_at(*document, {"status", "token"}),
                            .certificate = text_at(*document, {"status", "clientCertificateData"}),
                            .key = text_at(*document, {"status", "clientKeyData"})};
  if (credential.certificate.empty() != credential.key.empty()) {
    return refuse("has given a certificate without its key, or a key without its certificate");
  }
  if (credential.token.empty() && credential.certificate.empty()) return refuse("has given nothing to show");
  const std::string expires = text_at(*document, {"status", "expirationTimestamp"});
  if (expires.empty()) return credential;
  const Result<Instant> time = parse_rfc3339(expires);
  if (!time) return refuse("has given an expirationTimestamp that is no time");
  credential.expires = *time;
  return credential;
}

std::string exec_info(const ExecPlugin& plugin, const ExecCluster& cluster) {
  JsonWriter out;
  out.begin_map().member("apiVersion", plugin.api_version).member("kind", "ExecCredential");
  out.key("spec").begin_map();
  if (plugin.wants_cluster) {
    out.key("cluster").begin_map().member("server", cluster.server);
    if (!cluster.tls_server_name.empty()) out.member("tls-server-name", cluster.tls_server_name);
    if (!cluster.authority.empty()) out.member("certificate-authority-data", encode_base64(cluster.authority));
    if (!cluster.proxy.empty()) out.member("proxy-url", cluster.proxy);
    if (cluster.is_unverified) out.key("insecure-skip-tls-verify").boolean(true);
    out.end_map();
  }
  out.key("interactive").boolean(false).end_map();
  return out.end_map().take();
}

}  // namespace kron::kube
