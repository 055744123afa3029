#include "kron/operator/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

namespace kron::kronjobs {
namespace {

using ::testing::HasSubstr;

constexpr char kConfig[] = R"({"apiVersion": "v1", "kind": "Config", "current-context": "c",
  "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "shop"}}],
  "clusters": [{"name": "k", "cluster": {"server": "https://10.0.0.1:6443"}}],
  "users": [{"name": "u", "user": {"token": "t"}}]})";

struct Machine {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;

  [[nodiscard]] Result<kube::Connection> find(const Options& options = {}) const {
    return find_connection(
        options,
        [this](const char* name) {
          const auto found = variables.find(name);
          return found != variables.end() ? std::optional(found->second) : std::nullopt;
        },
        [this](const std::string& path) -> Result<std::string> {
          const auto found = files.find(path);
          if (found == files.end()) return fail(Code::not_found, "it is not there");
          return found->second;
        });
  }
};

Machine pod() {
  return {.variables = {{"KUBERNETES_SERVICE_HOST", "10.9.9.9"}, {"KUBERNETES_SERVICE_PORT", "443"}},
          .files = {{std::string(kube::kServiceAccount) + "/namespace", "kron\n"}}};
}

TEST(OperatorOptions, FindTheAccountOfThePod) {
  const auto connection = pod().find();
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->server, "https://10.9.9.9:443");
  EXPECT_EQ(connection->ns, "kron");
}

TEST(OperatorOptions, PreferTheFlagAndTheVariableToThePod) {
  Machine machine = pod();
  machine.files["/k"] = kConfig;
  EXPECT_EQ(machine.find({.kubeconfig = "/k"})->server, "https://10.0.0.1:6443");
  machine.variables["KUBECONFIG"] = "/none:/k";
  EXPECT_EQ(machine.find()->server, "https://10.0.0.1:6443");
  EXPECT_EQ(machine.find()->ns, "shop");
}

TEST(OperatorOptions, FindTheFileOfTheUserAtHome) {
  Machine machine{.variables = {{"HOME", "/home/u"}}, .files = {{"/home/u/.kube/config", kConfig}}};
  EXPECT_EQ(machine.find()->server, "https://10.0.0.1:6443");
  machine.files.clear();
  EXPECT_THAT(machine.find().error().message, HasSubstr("which cluster? There is no ~/.kube/config"));
  EXPECT_THAT(machine.find().error().message, HasSubstr("give --kubeconfig PATH, set KUBECONFIG, or copy"));
  machine.variables["KUBECONFIG"] = "/none";
  EXPECT_THAT(machine.find().error().message, HasSubstr("KUBECONFIG is '/none', and no such file is there"));
  EXPECT_THAT(machine.find({.kubeconfig = "/gone"}).error().message, HasSubstr("/gone: it is not there"));
}

TEST(OperatorOptions, RefuseWhatCannotBe) {
  EXPECT_TRUE(check({}));
  EXPECT_FALSE(check({.qps = 0}));
  EXPECT_FALSE(check({.qps = -1}));
  EXPECT_FALSE(check({.burst = 0.5}));
  EXPECT_FALSE(check({.lease_name = "Upper"}));
  EXPECT_FALSE(check({.lease_name = ""}));
  EXPECT_FALSE(check({.lease_namespace = "a/b"}));
  EXPECT_FALSE(check({.ns = "a b"}));
  EXPECT_FALSE(check({.test_jobs = "test.kron.io/v1"}));
  EXPECT_FALSE(check({.test_jobs = "test.kron.io//jobs/Job"}));
}

TEST(OperatorOptions, NameAnotherKindForTests) {
  EXPECT_EQ(job_api_of({}).group_version, "batch/v1");
  const Options options{.test_jobs = "test.kron.io/v1/jobs/Job"};
  ASSERT_TRUE(check(options));
  const JobApi api = job_api_of(options);
  EXPECT_EQ(api.group_version, "test.kron.io/v1");
  EXPECT_EQ(api.plural, "jobs");
  EXPECT_EQ(api.kind, "Job");
}

}  // namespace
}  // namespace kron::kronjobs
