#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_rig.h"
#include "kron/base/rfc3339.h"
#include "kron/json/writer.h"
#include "kron/kube/fake/api_server.h"
#include "kron/kube/fake/http_peer.h"
#include "kron/kube/fake/node_edit.h"

// `kron kube …` on an API server in memory that real connections reach.
namespace kron::cli {

class KubePort {
 public:
  // Sees each request before it is answered, and may change what there is: what others do meanwhile.
  using Meanwhile = std::function<void(kube::ApiServer& server, const kube::Request& request)>;

  KubePort()
      : peer_([this](auto& talk, const std::string& head, const std::string& body) { serve(talk, head, body); }) {
    server_.now = parse_rfc3339("2026-02-28T00:00:00Z").value();
  }

  [[nodiscard]] std::string url() const { return peer_.url(); }
  void stop() { peer_.stop_listening(); }

  template <class Work>
  auto with_server(Work work) {
    const std::scoped_lock lock(mutex_);
    return work(server_);
  }
  void meanwhile(Meanwhile meanwhile) {
    const std::scoped_lock lock(mutex_);
    meanwhile_ = std::move(meanwhile);
  }
  // Every request whose method and path hold these words is answered so from now on; without a body that is JSON.
  void refuse(std::string method, std::string part, int code, std::string body) {
    const std::scoped_lock lock(mutex_);
    refusals_.push_back({std::move(method), std::move(part), code, std::move(body)});
  }
  void allow_all() {
    const std::scoped_lock lock(mutex_);
    refusals_.clear();
  }
  void page_size(std::size_t size) {
    const std::scoped_lock lock(mutex_);
    page_ = size;
  }
  // "GET /apis/…?limit=500" of each, in order.
  std::vector<std::string> asked() {
    const std::scoped_lock lock(mutex_);
    return asked_;
  }

 private:
  struct Refusal {
    std::string method;
    std::string part;
    int code;
    std::string body;
  };

  static kube::Verb verb_of(const std::string& method) {
    if (method == "POST") return kube::Verb::create;
    if (method == "PUT") return kube::Verb::update;
    if (method == "PATCH") return kube::Verb::patch;
    return method == "DELETE" ? kube::Verb::remove : kube::Verb::get;
  }

  void serve(testing::HttpPeer::Talk& talk, const std::string& head, const std::string& body) {
    const std::scoped_lock lock(mutex_);
    const std::size_t space = head.find(' ');
    const std::string method = head.substr(0, space);
    const std::string target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
    asked_.push_back(method + " " + target);
    for (const Refusal& refusal : refusals_) {
      if (method != refusal.method || target.find(refusal.part) == std::string::npos) continue;
      talk.answer(refusal.code, refusal.body);
      return;
    }
    const std::size_t question = std::min(target.find('?'), target.size());
    const kube::Request request{verb_of(method), target.substr(0, question),
                                with_small_pages(target.substr(std::min(question + 1, target.size()))), body};
    if (meanwhile_) meanwhile_(server_, request);
    const kube::Response response = server_.respond(request);
    talk.answer(response.code, response.body);
  }

  // Who asks for pages gets smaller ones.
  [[nodiscard]] std::string with_small_pages(std::string query) const {
    constexpr std::string_view kLimit = "limit=500";
    if (const std::size_t at = query.find(kLimit); at != std::string::npos) {
      query.replace(at, kLimit.size(), "limit=" + std::to_string(page_));
    }
    return query;
  }

  std::mutex mutex_;
  kube::ApiServer server_;
  Meanwhile meanwhile_;
  std::vector<Refusal> refusals_;
  std::vector<std::string> asked_;
  std::size_t page_ = 500;
  testing::HttpPeer peer_;  // last: its threads use the above
};

inline std::string kube_status_text(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","reason":")" + reason + R"(","message":")" + message + R"(","code":)" +
         std::to_string(code) + "}";
}

// Where kubeconfigs and manifests of one test are.
class KubeDirectory {
 public:
  KubeDirectory() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~KubeDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  KubeDirectory(const KubeDirectory&) = delete;
  KubeDirectory& operator=(const KubeDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = "/tmp/kron-kube-XXXXXX";
};

class KubeVerbs : public ::testing::Test {
 protected:
  KubeVerbs() { write("config", kubeconfig(port_.url())); }

  static std::string kubeconfig(const std::string& server) {
    return "current-context: test\nclusters: [{name: c, cluster: {server: \"" + server +
           "\"}}]\ncontexts: [{name: test, context: {cluster: c, user: u, namespace: shop}}]\n"
           "users: [{name: u, user: {token: s3cret}}]\n";
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(directory_.file(name)) << text;
    return directory_.file(name);
  }

  // A KronJob of this spec (JSON), created on 2026-02-28 and seen by an operator, with this status.
  void put(const std::string& name, const std::string& spec, const std::string& status = R"({"observedGeneration":1})",
           const std::string& ns = "shop") {
    const Node object = parse_json(R"({"apiVersion":"kron.io/v1alpha1","kind":"KronJob","metadata":{"name":")" + name +
                                   R"(","namespace":")" + ns + R"("},"spec":)" + spec + "}")
                            .value();
    port_.with_server([&](kube::ApiServer& server) {
      ASSERT_EQ(server.create("kronjobs", object).code, 201);
      if (status.empty()) return;
      server.edit("kronjobs", ns, name,
                  [&](const Node& node) { return kube::with(node, {"status"}, parse_json(status).value()); });
    });
  }
  // Its spec as JSON: schedule, and further members.
  static std::string spec(const std::string& schedule, const std::string& more = "") {
    return R"({"schedule":")" + schedule + R"(",)" + more +
           R"("jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c"}]}}}}})";
  }
  void put_job(const std::string& name, const std::string& members, const std::string& ns = "shop") {
    const Node object = parse_json(R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns +
                                   R"(","labels":{"kron.io/name":"report"},"annotations":{"kron.io/identity":")" + ns +
                                   R"(/report"}},"spec":{"template":{}}})")
                            .value();
    const Node more = parse_json(members).value();
    port_.with_server([&](kube::ApiServer& server) {
      ASSERT_EQ(server.create("jobs", object).code, 201);
      server.edit("jobs", ns, name, [&](const Node& node) {
        Node made = node;
        for (const Node::Member& member : *more.as<Node::Map>()) made = kube::with(made, {member.key}, member.value);
        return made;
      });
    });
  }
  std::string stored(const std::string& name, kube::Path path, const std::string& ns = "shop") {
    return port_.with_server([&](kube::ApiServer& server) -> std::string {
      const auto object = server.find("kronjobs", ns, name);
      const Node* found = object ? kube::node_at(*object, path) : nullptr;
      return found != nullptr ? JsonWriter().node(*found).take() : std::string();
    });
  }

  // `kron kube WORD…` with the kubeconfig of this server.
  Ran kube(Words words, std::string_view input = {}) {
    words.insert(words.begin(), "kube");
    words.insert(words.end(), {"--kubeconfig", directory_.file("config")});
    return kron(words, input);
  }

  const Variable config_variable_{"KUBECONFIG", nullptr};
  const Variable host_variable_{"KUBERNETES_SERVICE_HOST", nullptr};
  const Variable proxy_variable_{"HTTP_PROXY", nullptr};
  const Variable small_proxy_variable_{"http_proxy", nullptr};
  const KubeDirectory directory_;
  const Variable home_variable_{"HOME", directory_.path().c_str()};
  KubePort port_;
};

}  // namespace kron::cli
