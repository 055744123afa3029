#include <filesystem>
#include <gtest/gtest.h>

#include "kube_rig.h"

// What `kron kube` does with manifests: without any server.
namespace kron::cli {
namespace {

constexpr char kReport[] = R"(apiVersion: kron.io/v1alpha1
kind: KronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "0 3 * * *"
  timezone: Europe/Paris
  window: {mode: after, duration: 1h}
  policy: {deadline: 10m}
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: report, image: "example.org/report:1"}]
)";

class KubeManifests : public KubeVerbs {
 protected:
  static Ran lint(Words words, std::string_view input = {}) {
    words.insert(words.begin(), {"kube", "lint"});
    words.insert(words.end(), {"--now", "2026-03-01T00:00:00Z"});
    return kron(words, input);
  }
  static std::string with(std::string_view part, const std::string& other) {
    std::string text = kReport;
    return text.replace(text.find(part), part.size(), other);
  }
};

TEST_F(KubeManifests, LintOfAGoodOneCounts) {
  const Ran ran = lint({write("a.yaml", kReport)});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, EndsWith("1 KronJob read: 0 errors, 0 warnings\n"));
  EXPECT_EQ(lint({"-"}, kReport).status, 0);
}

TEST_F(KubeManifests, LintShowsThePlaceTheProblemAndTheCure) {
  const Ran ran = lint({"-"}, with("duration: 1h}", "duration: 1h}\n  windw: {}"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out.substr(0, ran.out.find("1 KronJob")),
            "-:8:3: error: unknown key 'windw'\n      windw: {}\n      ^\n    hint: did you mean window?\n");
  EXPECT_THAT(ran.out, EndsWith("1 KronJob read: 1 error, 0 warnings\n"));
}

TEST_F(KubeManifests, LintWarnsAndQuietOnlyCounts) {
  const std::string path = write("a.yaml", with("deadline: 10m", "deadline: 5s"));
  const Ran ran = lint({path});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("8:12: warning: a deadline under 30s can miss a period when the leader dies"));
  EXPECT_EQ(lint({path, "-q"}).out, "1 KronJob read: 0 errors, 1 warning\n");
}

TEST_F(KubeManifests, LintInJsonIsAList) {
  const Ran ran = lint({"-", "--format", "json"}, with("0 3 * * *", "0 25 * * *"));
  EXPECT_EQ(ran.status, 1);
  const Result<Node> json = parse_json(ran.out);
  ASSERT_TRUE(json);
  ASSERT_EQ(json->as<Node::List>()->size(), 1U);
  const Node& problem = json->as<Node::List>()->front();
  EXPECT_EQ(kube::text_at(problem, {"field"}), "spec.schedule");
  EXPECT_EQ(kube::integer_at(problem, {"line"}), 5);
  EXPECT_EQ(kube::text_at(problem, {"severity"}), "error");
}

TEST_F(KubeManifests, LintReadsDirectoriesAndFindsNamesGivenTwice) {
  std::filesystem::create_directory(directory_.file("d"));
  write("d/a.yaml", kReport);
  write("d/b.yml", kReport);
  write("d/README.md", "# no manifest");
  const Ran ran = lint({directory_.file("d")});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("b.yml:1:1: error: the KronJob 'shop/report' is given twice"),
                             HasSubstr("a.yaml:1 too"), EndsWith("2 KronJobs read: 1 error, 0 warnings\n")));
}

TEST_F(KubeManifests, WhatCannotBeReadIsStatusTwoAndNoKronJobStatusOne) {
  EXPECT_EQ(lint({directory_.file("nowhere.yaml")}).status, 2);
  EXPECT_EQ(kron({"kube", "next", "-f", directory_.file("nowhere.yaml")}).status, 2);
  EXPECT_EQ(kron({"kube", "explain", "report", "-f", directory_.file("nowhere.yaml")}).status, 2);
  const Ran none = lint({"-"}, "kind: Service\n");
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.out, HasSubstr("there is no KronJob in it"));
  EXPECT_EQ(lint({"-", "-n", "a b"}, kReport).status, 2);
  EXPECT_EQ(kron({"kube", "lint", "-", "--now", "x"}, kReport).status, 1);
  EXPECT_EQ(kron({"kube", "lint"}).status, 2);
}

TEST_F(KubeManifests, NextOfAFileAsksNobody) {
  const std::string path = write("a.yaml", kReport);
  const Ran ran = kron({"kube", "next", "-f", path, "--from", "2026-03-01T00:00:00Z", "--count", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("2026-03-01T02:00:00Z"), HasSubstr("+01:00"), HasSubstr("shop/report"),
                             HasSubstr("2026-03-01T02:00:00Z to 2026-03-01T03:00:00Z")));
  EXPECT_THAT(port_.asked(), IsEmpty());
}

TEST_F(KubeManifests, TheNamespaceIsPartOfTheDecision) {
  const std::string path = write("a.yaml", with(", namespace: shop", ""));
  const auto chosen = [&](const Words& more) {
    Words words{"kube", "next", "-f", path, "--from", "2026-03-01T00:00:00Z", "--count", "1", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return kube::text_at(parse_json(kron(words).out).value(), {"chosenTime"});
  };
  EXPECT_NE(chosen({}), chosen({"-n", "shop"}));
  EXPECT_EQ(chosen({}), chosen({"-n", "default"}));
}

TEST_F(KubeManifests, NextAndExplainOfAFileAgreeWithTheServer) {
  const std::string path = write("a.yaml", kReport);
  put("report", R"({"schedule":"0 3 * * *","timezone":"Europe/Paris","window":{"mode":"after","duration":"1h"},)"
                R"("jobTemplate":{"spec":{"template":{}}}})");
  const auto chosen = [](const Ran& ran) { return kube::text_at(parse_json(ran.out).value(), {"chosenTime"}); };
  const Words ask{"next", "report", "--from", "2026-03-01T00:00:00Z", "--count", "1", "--format", "json"};
  Words of_file = ask;
  of_file.insert(of_file.begin(), "kube");
  of_file.insert(of_file.end(), {"-f", path});
  EXPECT_EQ(chosen(kube(ask)), chosen(kron(of_file)));
  const Ran story = kron({"kube", "explain", "report", "-f", path, "--now", "2026-03-01T00:00:00Z"});
  EXPECT_EQ(story.status, 0) << story.err;
  EXPECT_THAT(story.out, AllOf(HasSubstr("chosen        " + chosen(kube(ask))), Not(HasSubstr("verdict"))));
}

TEST_F(KubeManifests, ANameThatTheFilesDoNotHaveIsStatusOne) {
  const std::string path = write("a.yaml", kReport);
  for (const char* verb : {"next", "explain"}) {
    const Ran ran = kron({"kube", verb, "reprot", "-f", path});
    EXPECT_EQ(ran.status, 1) << verb;
    EXPECT_THAT(ran.err, HasSubstr("there is no KronJob 'reprot' in the files")) << verb;
  }
  const std::string broken = write("b.yaml", with("0 3 * * *", "0 25 * * *"));
  const Ran ran = kron({"kube", "explain", "report", "-f", broken});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("b.yaml:5:"));
}

}  // namespace
}  // namespace kron::cli
