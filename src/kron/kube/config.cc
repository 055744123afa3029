#include "kron/kube/config.h"

#include <algorithm>

#include "kron/base/text.h"
#include "kron/jobs/yaml.h"
#include "kron/kube/base64.h"
#include "kron/kube/object.h"

namespace kron::kube {
namespace {

struct Document {
  const ConfigFile* file;
  Node root;
};

struct Found {
  const ConfigFile* file = nullptr;
  const Node* node = nullptr;
};

// Texts only: a kubeconfig that has `token: 123` is told so by the reader of that field.
Result<std::string> text_of(const Node& map, std::string_view key, const ConfigFile& file) {
  const Node* found = map.find(key);
  if (found == nullptr || found->is_null()) return std::string();
  if (const auto* text = found->as<std::string>()) return *text;
  return fail(Code::invalid, file.path + ": " + std::string(key) + " must be a text; put it in quotes",
              std::string(key));
}

std::string absolute(std::string path, const ConfigFile& file) {
  if (path.empty() || path.front() == '/') return path;
  return file.path.substr(0, file.path.rfind('/') + 1) + path;
}

// `key-data`, in base64, before the file `key`.
Result<TextOrFile> data_or_file(const Node& map, const std::string& key, const ConfigFile& file) {
  const Result<std::string> data = text_of(map, key + "-data", file);
  if (!data) return fail(data.error());
  if (!data->empty()) {
    Result<std::string> bytes = decode_base64(*data);
    if (!bytes) return fail(Code::invalid, file.path + ": " + key + "-data: " + bytes.error().message, key + "-data");
    return TextOrFile{.text = *std::move(bytes)};
  }
  Result<std::string> path = text_of(map, key, file);
  if (!path) return fail(path.error());
  return TextOrFile{.file = absolute(*std::move(path), file)};
}

// The entry `name` of a list like `clusters`, and in it the map `body`; of the first file that has one.
Result<Found> entry(const std::vector<Document>& documents, std::string_view list, std::string_view body,
                    std::string_view name) {
  for (const Document& document : documents) {
    const Node* entries = node_at(document.root, {list});
    const auto* items = entries != nullptr ? entries->as<Node::List>() : nullptr;
    if (items == nullptr) continue;
    for (const Node& item : *items) {
      if (text_at(item, {"name"}) != name) continue;
      const Node* found = node_at(item, {body});
      if (found != nullptr && found->as<Node::Map>() != nullptr) return Found{document.file, found};
      return fail(Code::invalid,
                  document.file->path + ": the entry " + kron::quoted(name, 80) + " of " + std::string(list) +
                      " has no map `" + std::string(body) + "`",
                  std::string(list));
    }
  }
  return fail(Code::not_found, "the kubeconfig has no entry " + kron::quoted(name, 80) + " in " + std::string(list),
              std::string(list));
}

Result<std::vector<Document>> parse_all(std::span<const ConfigFile> files) {
  std::vector<Document> documents;
  for (const ConfigFile& file : files) {
    jobs::Report report(file.path, file.text);
    std::vector<Node> nodes = jobs::parse_yaml(file.text, report, {.bytes = std::size_t{1} << 20});
    if (report.error_count() > 0) {
      // Not the line itself: it may hold a key.
      const auto& problems = report.problems();
      const auto first = std::ranges::find(problems, jobs::Severity::error, &jobs::Problem::severity);
      return fail(Code::invalid,
                  file.path + ":" + std::to_string(first->at.line) + ": this is no kubeconfig that can be read");
    }
    if (nodes.empty() || nodes.front().is_null()) continue;  // an empty file is none
    if (nodes.front().as<Node::Map>() == nullptr) {
      return fail(Code::invalid, file.path + ": a kubeconfig is a map with clusters, users and contexts");
    }
    documents.push_back({&file, std::move(nodes.front())});
  }
  return documents;
}

Status check_server(const std::string& server, const ConfigFile& file) {
  const auto refuse = [&](std::string_view why) {
    return fail(Code::invalid, file.path + ": server: " + std::string(why), "server");
  };
  const bool is_tls = server.starts_with("https://");
  if (!is_tls && !server.starts_with("http://")) return refuse("expected https://host:port");
  const std::string_view rest = std::string_view(server).substr(is_tls ? 8 : 7);
  if (rest.empty() || rest.front() == '/' || rest.front() == ':') return refuse("it names no host");
  const bool is_odd = std::ranges::any_of(rest, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 127 || c == '@' || c == '?' ||
           c == '#';
  });
  return is_odd ? Status(refuse("it has characters that no address has")) : Status();
}

Status read_cluster(const Found& cluster, Connection& connection) {
  const ConfigFile& file = *cluster.file;
  const Node& map = *cluster.node;
  Result<std::string> server = text_of(map, "server", file);
  if (!server) return fail(server.error());
  while (server->ends_with('/')) server->pop_back();
  if (Status checked = check_server(*server, file); !checked) return checked;
  connection.server = *std::move(server);

  Result<TextOrFile> authority = data_or_file(map, "certificate-authority", file);
  if (!authority) return fail(authority.error());
  connection.authority = *std::move(authority);
  connection.is_unverified = is_true_at(map, {"insecure-skip-tls-verify"});
  if (connection.is_unverified && connection.authority.is_given()) {
    return fail(Code::invalid, file.path + ": insecure-skip-tls-verify together with a certificate-authority",
                "insecure-skip-tls-verify");
  }
  Result<std::string> name = text_of(map, "tls-server-name", file);
  if (!name) return fail(name.error());
  connection.tls_server_name = *std::move(name);
  Result<std::string> proxy = text_of(map, "proxy-url", file);
  if (!proxy) return fail(proxy.error());
  connection.proxy = *std::move(proxy);
  return {};
}

Result<std::vector<std::string>> texts_of(const Node& map, std::string_view key, const ConfigFile& file) {
  std::vector<std::string> texts;
  const Node* found = map.find(key);
  if (found == nullptr || found->is_null()) return texts;
  const auto* list = found->as<Node::List>();
  for (const Node& one : list != nullptr ? *list : Node::List{Node()}) {
    const auto* text = one.as<std::string>();
    if (text == nullptr) {
      return fail(Code::invalid, file.path + ": exec: " + std::string(key) + " must be a list of texts", "exec");
    }
    texts.push_back(*text);
  }
  return texts;
}

Result<ExecPlugin> read_exec(const Node& map, const ConfigFile& file) {
  const auto refuse = [&](const std::string& why) { return fail(Code::invalid, file.path + ": exec: " + why, "exec"); };
  ExecPlugin plugin{.api_version = text_at(map, {"apiVersion"}), .command = text_at(map, {"command"})};
  constexpr std::string_view kGroup = "client.authentication.k8s.io/";
  if (plugin.api_version != std::string(kGroup) + "v1" && plugin.api_version != std::string(kGroup) + "v1beta1") {
    return refuse("apiVersion must be " + std::string(kGroup) + "v1 or " + std::string(kGroup) + "v1beta1");
  }
  if (plugin.command.empty()) return refuse("it names no command");
  // A path is relative to the file; a name is looked for where programs are.
  if (plugin.command.find('/') != std::string::npos) plugin.command = absolute(std::move(plugin.command), file);
  if (text_at(map, {"interactiveMode"}) == "Always") return refuse("a plug-in that needs a terminal has none here");
  Result<std::vector<std::string>> arguments = texts_of(map, "args", file);
  if (!arguments) return fail(arguments.error());
  plugin.arguments = *std::move(arguments);
  plugin.install_hint = text_at(map, {"installHint"});
  plugin.wants_cluster = is_true_at(map, {"provideClusterInfo"});
  const Node* variables = node_at(map, {"env"});
  const auto* list = variables != nullptr ? variables->as<Node::List>() : nullptr;
  if (variables != nullptr && list == nullptr) return refuse("env must be a list of names and values");
  for (const Node& one : list != nullptr ? *list : Node::List()) {
    const std::string name = text_at(one, {"name"});
    if (name.empty() || name.find('=') != std::string::npos) return refuse("env has a variable without a name");
    plugin.environment.emplace_back(name, text_at(one, {"value"}));
  }
  return plugin;
}

Status read_user(const Found& user, Connection& connection) {
  const ConfigFile& file = *user.file;
  const Node& map = *user.node;
  const auto unsupported = [&](const char* key, const char* what) {
    return fail(
        Code::invalid,
        file.path + ": " + what + " is not supported; give the user a token, a tokenFile or a client certificate", key);
  };
  if (node_at(map, {"auth-provider"}) != nullptr) return unsupported("auth-provider", "an auth-provider");
  if (node_at(map, {"username"}) != nullptr || node_at(map, {"password"}) != nullptr) {
    return unsupported("username", "a user name with a password");
  }
  if (node_at(map, {"as"}) != nullptr) return unsupported("as", "impersonation");

  Result<std::string> token_file = text_of(map, "tokenFile", file);
  if (!token_file) return fail(token_file.error());
  Result<std::string> token = text_of(map, "token", file);
  if (!token) return fail(token.error());
  connection.token.file = absolute(*std::move(token_file), file);  // as kubectl does: the file comes first
  if (connection.token.file.empty()) connection.token.text = *std::move(token);

  Result<TextOrFile> certificate = data_or_file(map, "client-certificate", file);
  if (!certificate) return fail(certificate.error());
  Result<TextOrFile> key = data_or_file(map, "client-key", file);
  if (!key) return fail(key.error());
  if (certificate->is_given() != key->is_given()) {
    return fail(Code::invalid, file.path + ": client-certificate and client-key belong together", "client-certificate");
  }
  connection.certificate = *std::move(certificate);
  connection.key = *std::move(key);
  const Node* exec = node_at(map, {"exec"});
  if (exec == nullptr || connection.token.is_given() || connection.certificate.is_given()) return {};
  Result<ExecPlugin> plugin = read_exec(*exec, file);
  if (!plugin) return fail(plugin.error());
  connection.exec = *std::move(plugin);
  return {};
}

}  // namespace

Result<Connection> read_kubeconfig(std::span<const ConfigFile> files, std::string_view context) {
  const Result<std::vector<Document>> documents = parse_all(files);
  if (!documents) return fail(documents.error());
  std::string wanted(context);
  for (const Document& document : *documents) {
    if (wanted.empty()) wanted = text_at(document.root, {"current-context"});
  }
  if (wanted.empty()) return fail(Code::not_found, "the kubeconfig has no current-context", "current-context");

  const Result<Found> found = entry(*documents, "contexts", "context", wanted);
  if (!found) return fail(found.error());
  const Result<Found> cluster = entry(*documents, "clusters", "cluster", text_at(*found->node, {"cluster"}));
  if (!cluster) return fail(cluster.error());

  Connection connection;
  if (Status read = read_cluster(*cluster, connection); !read) return fail(read.error());
  const std::string user_name = text_at(*found->node, {"user"});
  if (!user_name.empty()) {
    const Result<Found> user = entry(*documents, "users", "user", user_name);
    if (!user) return fail(user.error());
    if (Status read = read_user(*user, connection); !read) return fail(read.error());
  }
  if (std::string ns = text_at(*found->node, {"namespace"}); !ns.empty()) connection.ns = std::move(ns);
  return connection;
}

std::vector<std::string> kubeconfig_paths(std::string_view kubeconfig, std::string_view home) {
  std::vector<std::string> paths;
  while (!kubeconfig.empty()) {
    const std::size_t end = kubeconfig.find(':');
    if (end != 0) paths.emplace_back(kubeconfig.substr(0, end));
    kubeconfig.remove_prefix(end == std::string_view::npos ? kubeconfig.size() : end + 1);
  }
  if (paths.empty() && !home.empty()) paths.push_back(std::string(home) + "/.kube/config");
  return paths;
}

Result<Connection> in_cluster(const GetVariable& variable, std::string_view ns) {
  std::string host = variable("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = variable("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty()) {
    return fail(Code::not_found,
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no pod; name a kubeconfig");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";  // IPv6
  const std::string account(kServiceAccount);
  Connection connection;
  connection.server = "https://" + host + ":" + port;
  connection.authority.file = account + "/ca.crt";
  connection.token.file = account + "/token";
  if (const std::string_view own = trimmed(ns); !own.empty()) connection.ns = own;
  return connection;
}

}  // namespace kron::kube
