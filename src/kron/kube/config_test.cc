#include "kron/kube/config.h"

#include <gtest/gtest.h>
#include <map>

namespace kron::kube {
namespace {

const std::string kPlain = R"(apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: c, user: u, namespace: shop}
- name: there
  context: {cluster: d, user: v}
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority: pki/ca.crt
- name: d
  cluster:
    server: https://[::1]:6443
    certificate-authority-data: Zm9v
    certificate-authority: ignored.crt
    tls-server-name: kube
    proxy-url: socks5://127.0.0.1:1080
users:
- name: u
  user: {token: "s3cret"}
- name: v
  user:
    client-certificate-data: Zm9v
    client-key: /keys/k.pem
)";

Result<Connection> read(const std::string& text, std::string_view context = {}) {
  const ConfigFile files[] = {{"/home/a/.kube/config", text}};
  return read_kubeconfig(files, context);
}

std::string with_user(const std::string& user) {
  return "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
         "clusters: [{name: c, cluster: {server: 'https://a'}}]\nusers: [{name: u, user: " +
         user + "}]\n";
}

std::string with_cluster(const std::string& cluster) {
  return "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: " + cluster +
         "}]\n";
}

TEST(Kubeconfig, GivesTheCurrentContext) {
  const Connection connection = read(kPlain).value();
  EXPECT_EQ(connection.server, "https://10.0.0.1:6443");
  EXPECT_EQ(connection.authority, TextOrFile{.file = "/home/a/.kube/pki/ca.crt"});
  EXPECT_EQ(connection.token, TextOrFile{.text = "s3cret"});
  EXPECT_EQ(connection.ns, "shop");
  EXPECT_FALSE(connection.is_unverified);
  EXPECT_FALSE(connection.certificate.is_given());
}

TEST(Kubeconfig, GivesTheContextThatIsAskedFor) {
  const Connection connection = read(kPlain, "there").value();
  EXPECT_EQ(connection.server, "https://[::1]:6443");
  EXPECT_EQ(connection.authority, TextOrFile{.text = "foo"});  // data beats the file
  EXPECT_EQ(connection.tls_server_name, "kube");
  EXPECT_EQ(connection.proxy, "socks5://127.0.0.1:1080");
  EXPECT_EQ(connection.certificate, TextOrFile{.text = "foo"});
  EXPECT_EQ(connection.key, TextOrFile{.file = "/keys/k.pem"});
  EXPECT_EQ(connection.ns, "default");
}

TEST(Kubeconfig, OfSeveralFilesTakesTheFirstThatHasAName) {
  const ConfigFile files[] = {
      {"/a/one", "contexts: [{name: here, context: {cluster: c, user: mine}}]\n"},
      {"/b/two", "users: [{name: mine, user: {tokenFile: tok}}]\ncurrent-context: here\n"},
      {"/c/three", kPlain},
      {"/d/empty", ""},
  };
  const Connection connection = read_kubeconfig(files).value();
  EXPECT_EQ(connection.token, TextOrFile{.file = "/b/tok"});  // relative to the file that says so
  EXPECT_EQ(connection.authority.file, "/c/pki/ca.crt");
  EXPECT_EQ(connection.ns, "default");
}

TEST(Kubeconfig, SaysWhatItLacks) {
  EXPECT_EQ(read("").error().code, Code::not_found);
  EXPECT_EQ(read(kPlain, "nowhere").error().message, "the kubeconfig has no entry 'nowhere' in contexts");
  EXPECT_EQ(read("current-context: x\ncontexts: [{name: x, context: {cluster: gone}}]\n").error().code,
            Code::not_found);
  EXPECT_EQ(read("current-context: x\ncontexts: [{name: x}]\n").error().code, Code::invalid);
  EXPECT_EQ(read("- a\n").error().code, Code::invalid);
}

TEST(Kubeconfig, RefusesWhatIsNotSupportedInsteadOfGoingWithoutCredentials) {
  EXPECT_EQ(read(with_user("{exec: {command: aws}}")).error().field, "exec");  // it lacks its apiVersion
  EXPECT_EQ(read(with_user("{auth-provider: {name: gcp}}")).error().field, "auth-provider");
  EXPECT_EQ(read(with_user("{username: admin, password: secret}")).error().field, "username");
  EXPECT_EQ(read(with_user("{as: somebody}")).error().field, "as");
  EXPECT_EQ(read(with_user("{client-certificate-data: Zm9v}")).error().field, "client-certificate");
  EXPECT_EQ(read(with_user("{token: 12345}")).error().field, "token");
}

TEST(Kubeconfig, NamesAnExecPlugin) {
  const std::string version = "apiVersion: client.authentication.k8s.io/v1";
  const auto exec = [&](const std::string& rest) { return read(with_user("{exec: {" + version + rest + "}}")); };
  EXPECT_EQ(exec(", command: aws, args: [eks, get-token], env: [{name: A, value: b}], installHint: get it, "
                 "provideClusterInfo: true, interactiveMode: IfAvailable")
                .value()
                .exec,
            (ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                        .command = "aws",
                        .arguments = {"eks", "get-token"},
                        .environment = {{"A", "b"}},
                        .install_hint = "get it",
                        .wants_cluster = true}));
  EXPECT_EQ(exec(", command: bin/a").value().exec->command.front(), '/') << "relative to the file";
  for (const char* rest : {"", ", command: a, args: 1", ", command: a, args: [1]", ", command: a, env: 1",
                           ", command: a, env: [{value: b}]", ", command: a, interactiveMode: Always"}) {
    EXPECT_EQ(exec(rest).error().field, "exec") << rest;
  }
  EXPECT_FALSE(read(with_user("{token: a, exec: {" + version + ", command: a}}")).value().exec) << "the token counts";
}

TEST(Kubeconfig, ChecksTheServer) {
  for (const char* server :
       {"''", "ftp://a", "https://", "https:///x", "10.0.0.1:6443", "'https://u:p@a'", "'https://a b'"}) {
    EXPECT_EQ(read(with_cluster(std::string("{server: ") + server + "}")).error().field, "server") << server;
  }
  EXPECT_EQ(read(with_cluster("{server: 'https://a/k8s/c-1///'}")).value().server, "https://a/k8s/c-1");
  EXPECT_TRUE(read(with_cluster("{server: 'https://a', insecure-skip-tls-verify: true}")).value().is_unverified);
  EXPECT_FALSE(read(with_cluster("{server: 'https://a', insecure-skip-tls-verify: true, certificate-authority: b}")));
}

TEST(Kubeconfig, NeverShowsASecretInAMessage) {
  const std::string secret = "s3cr3tkey";
  for (const std::string& text :
       {with_user("{client-key-data: '" + secret + "!'}"), with_user("{password: " + secret + "}"),
        with_user("{exec: {command: a, env: " + secret + "}}"),
        with_user("{exec: {apiVersion: client.authentication.k8s.io/v1, command: a, env: [{value: " + secret + "}]}}"),
        "token: [" + secret, "token: '" + secret}) {
    const auto read_text = read(text);
    ASSERT_FALSE(read_text) << text;
    EXPECT_EQ(read_text.error().message.find(secret), std::string::npos) << read_text.error().message;
  }
}

TEST(Kubeconfig, IsLookedForWhereKubectlLooks) {
  using Paths = std::vector<std::string>;
  EXPECT_EQ(kubeconfig_paths("", "/home/a"), Paths{"/home/a/.kube/config"});
  EXPECT_EQ(kubeconfig_paths("/x:/y", "/home/a"), (Paths{"/x", "/y"}));
  EXPECT_EQ(kubeconfig_paths(":/x::", "/home/a"), Paths{"/x"});
  EXPECT_EQ(kubeconfig_paths("", ""), Paths{});
}

TEST(InCluster, IsWhatAPodHas) {
  std::map<std::string, std::string> variables{{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                               {"KUBERNETES_SERVICE_PORT", "443"}};
  const GetVariable get = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  };
  const Connection connection = in_cluster(get, "kron-system\n").value();
  EXPECT_EQ(connection.server, "https://10.96.0.1:443");
  EXPECT_EQ(connection.ns, "kron-system");
  EXPECT_EQ(connection.token.file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_EQ(connection.authority.file, "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
  variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(in_cluster(get, "").value().server, "https://[fd00::1]:443");
  variables.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_EQ(in_cluster(get, "").error().code, Code::not_found);
}

}  // namespace
}  // namespace kron::kube
