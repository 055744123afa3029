#include "kron/kube/exec_plugin.h"

#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"

namespace kron::kube {
namespace {

ExecPlugin shell(const std::string& script) {
  return {.api_version = "client.authentication.k8s.io/v1", .command = "/bin/sh", .arguments = {"-c", script}};
}

std::string credential_text(const std::string& status) {
  return R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)" + status + "}";
}

// Longer than a shell takes on a busy machine.
constexpr Seconds kAmple{60};

TEST(ExecPlugin, GivesATokenACertificateAndWhenTheyExpire) {
  const auto read = [](const std::string& text) { return read_exec_credential(text, shell("")); };
  EXPECT_EQ(read(credential_text(R"({"token":"t","expirationTimestamp":"2026-03-01T12:00:00Z"})")).value(),
            (ExecCredential{.token = "t", .expires = parse_rfc3339("2026-03-01T12:00:00Z").value()}));
  EXPECT_EQ(read(credential_text(R"({"clientCertificateData":"c","clientKeyData":"k"})")).value(),
            (ExecCredential{.certificate = "c", .key = "k"}));
}

TEST(ExecPlugin, ThatGivesNothingOfUseIsRefusedWithoutShowingWhatItPrinted) {
  for (
      const std::string& text :
      {std::string("secret"), std::string("[]"), std::string(R"({"kind":"secret"})"), credential_text("{}"),
       credential_text(R"({"clientKeyData":"secret"})"),
       credential_text(R"({"token":"secret","expirationTimestamp":"secret"})"),
       std::string(
           R"({"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"secret"}})")}) {
    const auto read = read_exec_credential(text, shell(""));
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_EQ(read.error().message.find("secret"), std::string::npos) << read.error().message;
  }
}

TEST(ExecPlugin, IsRunWithItsArgumentsAndVariables) {
  ExecPlugin plugin = shell(R"(printf '%s %s %s' "$MINE" "$KUBERNETES_EXEC_INFO" "$1"; cat)");
  plugin.arguments.insert(plugin.arguments.end(), {"sh", "argument"});
  plugin.environment = {{"MINE", "value"}};
  EXPECT_EQ(run_exec_plugin(plugin, "info", kAmple).value(), "value info argument");
  EXPECT_EQ(run_exec_plugin({.command = "echo", .arguments = {"found"}}, "", kAmple).value(), "found\n") << "in PATH";
}

TEST(ExecPlugin, IsToldOfTheClusterIfItWishes) {
  ExecPlugin plugin = shell("");
  EXPECT_EQ(exec_info(plugin, {.server = "https://a"}),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}})");
  plugin.wants_cluster = true;
  EXPECT_EQ(
      exec_info(plugin, {.server = "https://a", .authority = "PEM!"}),
      R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"cluster":{"server":"https://a","certificate-authority-data":"UEVNIQ=="},"interactive":false}})");
}

TEST(ExecPlugin, ThatFailsIsAnError) {
  const auto failed = run_exec_plugin(shell("echo secret; exit 3"), "", kAmple);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the exec plug-in '/bin/sh' ended with status 3");
  const auto absent = run_exec_plugin({.command = "/nowhere/plug-in", .install_hint = "get it from X"}, "", kAmple);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::not_found);
  EXPECT_NE(absent.error().message.find("get it from X"), std::string::npos);
}

TEST(ExecPlugin, ThatHangsIsEndedWithWhatItHasStarted) {
  const auto hung = run_exec_plugin(shell("sleep 1000 & echo $!; wait"), "", std::chrono::milliseconds(200));
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().code, Code::unreachable);
  // Closed its output, and goes on.
  EXPECT_FALSE(run_exec_plugin(shell("exec >&-; sleep 1000"), "", std::chrono::milliseconds(200)));
}

TEST(ExecPlugin, ThatPrintsWithoutEndIsEnded) {
  const auto large =
      run_exec_plugin(shell("while :; do echo 0123456789012345678901234567890123456789; done"), "", kAmple);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, Code::invalid);
}

}  // namespace
}  // namespace kron::kube
