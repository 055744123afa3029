#include <filesystem>
#include <gtest/gtest.h>
#include <tuple>

#include "kube_rig.h"

// What `kron kube` has in common, suspend and resume: who is asked, what is changed, and which exit status stands for
// what.
namespace kron::cli {
namespace {

// Every verb that asks the server, with arguments that let it come that far.
const std::vector<Words>& kube_words() {
  static const std::vector<Words> kWords{{"next"},
                                         {"next", "report"},
                                         {"explain", "report"},
                                         {"trigger", "report"},
                                         {"suspend", "report"},
                                         {"resume", "report"}};
  return kWords;
}

TEST_F(KubeVerbs, SuspendAndResumeChangeOneFieldOfTheSpec) {
  put("report", spec("0 3 * * *"));
  const Ran ran = kube({"suspend", "report"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "suspended shop/report\n");
  EXPECT_EQ(stored("report", {"spec", "policy"}), R"({"suspend":true})");
  EXPECT_EQ(kube({"suspend", "report"}).out, "suspended shop/report (it was already)\n");
  EXPECT_EQ(kube({"resume", "shop/report"}).out, "resumed shop/report\n");
  EXPECT_EQ(stored("report", {"spec", "policy"}), R"({"suspend":false})");
  EXPECT_EQ(kube({"resume", "report", "--format", "json"}).out,
            R"({"namespace":"shop","name":"report","suspended":false,"changed":false})"
            "\n");
}

TEST_F(KubeVerbs, TheRestOfThePolicyStays) {
  put("report", spec("0 3 * * *", R"("policy":{"deadline":"1h","concurrency":"allow"},)"));
  EXPECT_EQ(kube({"suspend", "report"}).status, 0);
  EXPECT_EQ(stored("report", {"spec", "policy"}), R"({"deadline":"1h","concurrency":"allow","suspend":true})");
}

TEST_F(KubeVerbs, AllAreThoseOfTheNamespacePageByPage) {
  for (const char* name : {"a", "b", "c"}) put(name, spec("0 3 * * *"));
  put("other", spec("0 3 * * *"), "", "prod");
  port_.page_size(2);
  EXPECT_EQ(kube({"suspend", "--all"}).out, "suspended shop/a\nsuspended shop/b\nsuspended shop/c\n");
  EXPECT_EQ(stored("other", {"spec", "policy"}, "prod"), "");
  EXPECT_EQ(kube({"suspend", "--all", "-n", "prod"}).out, "suspended prod/other\n");
  EXPECT_EQ(kube({"suspend", "--all", "-n", "empty"}).out, "no KronJobs\n");
}

TEST_F(KubeVerbs, WhoIsSlowerLooksAgain) {
  put("report", spec("0 3 * * *"));
  int changes = 2;
  port_.meanwhile([&](kube::ApiServer& server, const kube::Request& request) {
    if (request.verb != kube::Verb::patch || changes-- <= 0) return;
    server.edit("kronjobs", "shop", "report", [&](const Node& node) {
      return kube::with_text(node, {"metadata", "labels", "n"}, std::to_string(changes));
    });
  });
  EXPECT_EQ(kube({"suspend", "report"}).out, "suspended shop/report\n");
  EXPECT_EQ(stored("report", {"spec", "policy"}), R"({"suspend":true})");
  changes = 100;
  const Ran ran = kube({"resume", "report"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("changes all the time"));
  EXPECT_EQ(stored("report", {"spec", "policy"}), R"({"suspend":true})") << "nothing was overwritten";
}

TEST_F(KubeVerbs, APolicyOfTheClusterThatSaysNoIsNoConflict) {
  put("report", spec("0 3 * * *"));
  port_.refuse("PATCH", "kronjobs/report", 422, kube_status_text(422, "Invalid", "not on Fridays"));
  const Ran ran = kube({"suspend", "report"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("refuses it: 'not on Fridays'"));
  EXPECT_EQ(port_.asked().size(), 3U) << "it is not tried again";
}

TEST_F(KubeVerbs, ANameThatIsNotThereIsStatusOneAndTheOthersAreDone) {
  put("report", spec("0 3 * * *"));
  const Ran ran = kube({"suspend", "reprot", "report"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.err, "kron kube suspend: there is no KronJob 'reprot' in namespace 'shop'\n");
  EXPECT_EQ(ran.out, "suspended shop/report\n");
  for (const char* verb : {"next", "explain", "trigger"}) EXPECT_EQ(kube({verb, "reprot"}).status, 1) << verb;
}

TEST_F(KubeVerbs, WordsThatCanBeNoNameAskNobody) {
  for (const char* word : {"../secrets", "a/b/c", "Report", "", "a b", "shop/", "/x"}) {
    const Ran ran = kube({"suspend", word});
    EXPECT_EQ(ran.status, 2) << word;
    EXPECT_THAT(ran.err, HasSubstr("expected NAME or NAMESPACE/NAME")) << word;
  }
  for (Words words : kube_words()) {
    words.insert(words.end(), {"-n", "../x"});
    EXPECT_EQ(kube(words).status, 2) << words.front();
  }
  EXPECT_EQ(kube({"suspend"}).status, 2);
  EXPECT_THAT(port_.asked(), IsEmpty());
}

TEST_F(KubeVerbs, RefusalsHaveTheirStatusAndTheirCure) {
  put("report", spec("0 3 * * *"));
  const std::tuple<int, std::string, int, const char*> refusals[] = {
      {401, kube_status_text(401, "Unauthorized", "Unauthorized"), 4, "does not know who asks"},
      {403, kube_status_text(403, "Forbidden", "user u cannot"), 4, "docs/kubernetes-commands.md"},
      {404, "404 page not found", 1, "install the CRD"},
      {404, kube_status_text(404, "NotFound", "the server could not find the requested resource"), 1,
       "install the CRD"},
      {429, kube_status_text(429, "TooManyRequests", "storage is (re)initializing"), 3, "cannot answer now"},
      {503, "<html>", 3, "cannot answer now"},
      {200, "<html>", 3, "no JSON"},
      {403, kube_status_text(403, "Forbidden", "\\u001b[2J"), 4, "\\x1b"},
  };
  for (const auto& [code, body, status, words] : refusals) {
    port_.refuse("GET", "kronjobs", code, body);
    for (Words verb : kube_words()) {
      const Ran ran = kube(verb);
      EXPECT_EQ(ran.status, status) << verb.front() << code;
      EXPECT_THAT(ran.err, AllOf(StartsWith("kron kube " + verb.front() + ": "), HasSubstr(words))) << code;
      if (code != 401) continue;
      verb.insert(verb.end(), {"--format", "json"});
      EXPECT_THAT(kube(verb).out, StartsWith(R"({"error":)")) << verb.front();
    }
    port_.allow_all();
  }
}

TEST_F(KubeVerbs, AServerThatIsNotThereIsStatusThree) {
  port_.stop();
  for (const Words& words : kube_words()) {
    const Ran ran = kube(words);
    EXPECT_EQ(ran.status, 3) << words.front();
    EXPECT_THAT(ran.err, HasSubstr("cannot be reached")) << words.front();
  }
}

TEST_F(KubeVerbs, WhereTheServerIsComesFromFlagsVariablesOrTheHomeDirectory) {
  put("report", spec("0 3 * * *"));
  EXPECT_EQ(kron({"kube", "next"}).status, 2);
  EXPECT_THAT(kron({"kube", "next"}).err, HasSubstr("There is no ~/.kube/config, and KUBECONFIG is not set; give "
                                                    "--kubeconfig PATH, set KUBECONFIG, or copy the kubeconfig of the "
                                                    "cluster to ~/.kube/config"));
  const std::string missing = directory_.file("nowhere");
  {
    const Variable variable("KUBECONFIG", missing.c_str());
    EXPECT_THAT(kron({"kube", "next"}).err, HasSubstr("KUBECONFIG is '" + missing + "', and no such file is there"));
  }
  {
    const Variable variable("KUBECONFIG", (missing + ":" + directory_.file("config")).c_str());
    EXPECT_EQ(kron({"kube", "next", "report"}).status, 0) << "files that are not there are passed by";
  }
  std::filesystem::create_directory(directory_.file(".kube"));
  write(".kube/config", kubeconfig(port_.url()));
  EXPECT_EQ(kron({"kube", "next", "report"}).status, 0);
  EXPECT_EQ(kron({"kube", "next", "report", "--context", "test"}).status, 0);
  const Ran context = kron({"kube", "next", "report", "--context", "prod"});
  EXPECT_EQ(context.status, 2);
  EXPECT_THAT(context.err, HasSubstr("'prod'"));
  EXPECT_EQ(kron({"kube", "next", "--kubeconfig", missing}).status, 2);
  write("config", "current-context: test\ntoken: s3cret: x\n");
  const Ran broken = kube({"next"});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.err, Not(HasSubstr("s3cret")));
}

TEST_F(KubeVerbs, ATokenGoesToTheServerAndAWarningToWhoeverDoesNotCheckIt) {
  put("report", spec("0 3 * * *"));
  std::string config = kubeconfig(port_.url());
  config.replace(config.find("server:"), 7, "insecure-skip-tls-verify: true, server:");
  write("config", config);
  const Ran ran = kube({"next", "report"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("insecure-skip-tls-verify"));
}

}  // namespace
}  // namespace kron::cli
