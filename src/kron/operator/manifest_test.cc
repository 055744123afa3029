#include "kron/operator/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/operator/fake/samples.h"

namespace kron::kronjobs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ReadBack {
  std::vector<Manifest> manifests;
  std::vector<jobs::Problem> problems;

  // "error 3:5 message | cure"
  [[nodiscard]] std::vector<std::string> told() const {
    std::vector<std::string> lines;
    for (const jobs::Problem& problem : problems) {
      lines.push_back(std::string(jobs::name_of(problem.severity)) + " " + std::to_string(problem.at.line) + ":" +
                      std::to_string(problem.at.column) + " " + problem.message + " | " + problem.cure);
    }
    return lines;
  }
};

ReadBack read_text(const std::string& yaml) {
  jobs::Report report("a.yaml", yaml);
  std::vector<Manifest> manifests = read_manifests(yaml, "default", testing::zones(), report);
  return {std::move(manifests), report.take()};
}

// A good KronJob whose spec has these lines too; they begin in line 6.
std::string manifest(const std::string& spec, const std::string& metadata = "{name: report, namespace: shop}") {
  return "apiVersion: kron.io/v1alpha1\nkind: KronJob\nmetadata: " + metadata + "\nspec:\n  schedule: \"0 3 * * *\"\n" +
         spec +
         "  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n"
         "          containers: [{name: c, image: x}]\n";
}
const std::string kDeadline = "  policy: {deadline: 1h}\n";

TEST(Manifest, AGoodOneIsReadWithoutAWord) {
  const ReadBack read = read_text(manifest(kDeadline));
  EXPECT_THAT(read.told(), IsEmpty());
  ASSERT_EQ(read.manifests.size(), 1U);
  const Manifest& good = read.manifests.front();
  EXPECT_TRUE(good.is_good);
  EXPECT_EQ(good.spec.job->identity, "shop/report");
  EXPECT_EQ(read_text(manifest(kDeadline, "{name: report}")).manifests.front().ns, "default");
}

TEST(Manifest, SeveralDocumentsAndListsAreReadAndOtherKindsPassedBy) {
  const std::string item = manifest(kDeadline);
  std::string list = "kind: List\nitems:\n";
  for (std::size_t at = 0; at < item.size();) {
    const std::size_t end = item.find('\n', at) + 1;
    list += (at == 0 ? "  - " : "    ") + item.substr(at, end - at);
    at = end;
  }
  const ReadBack read = read_text(item + "---\nkind: Service\nspec: {}\n---\n" + list);
  EXPECT_THAT(read.told(), IsEmpty());
  EXPECT_EQ(read.manifests.size(), 2U);
}

TEST(Manifest, EachReasonOfInvalidSpecHasItsPlaceAndCure) {
  struct Case {
    std::string text;
    const char* told;
  };
  const std::string good = manifest(kDeadline);
  const auto without = [&](const std::string& part) {
    std::string text = good;
    return text.erase(text.find(part), part.size());
  };
  const auto instead = [&](const std::string& part, const std::string& other) {
    std::string text = good;
    return text.replace(text.find(part), part.size(), other);
  };
  const std::vector<Case> cases{
      {instead("0 3 * * *", "0 25 * * *"), "error 5:16 spec.schedule: "},
      {instead("0 3 * * *", "TZ=UTC 0 3 * * *"), "error 5:3 spec.schedule: give the zone in spec.timezone"},
      {instead("0 3 * * *", "@reboot"), "error 5:3 spec.schedule: @reboot is for krond only"},
      {without("  schedule: \"0 3 * * *\"\n"), "spec.schedule: a schedule is required"},
      {instead("\"0 3 * * *\"", "5"), "spec.schedule: expected a text, found a whole number | put it in quotes"},
      {instead("report", std::string(64, 'a')), "metadata.name: the name is a label of every Job: at most 63"},
      {instead("report", "Report_1"), "metadata.name: 'Report_1' cannot be a name | use small letters"},
      {instead("name: report, ", ""), "metadata.name: a KronJob needs a name"},
      {instead("v1alpha1", "v1"),
       "error 1:1 apiVersion: 'kron.io/v1' is not served for KronJobs | write kron.io/v1alpha1"},
      {manifest("  windw: {duration: 1h}\n"), "error 6:3 unknown key 'windw'"},
      {manifest("  windw: {duration: 1h}\n"), "| did you mean window?"},
      {manifest("  window: 3h\n"),
       "error 6:3 spec.window: expected a map, found a text | write {mode: after, duration: 1h}"},
      {manifest("  window: {mode: center, duration: 1h}\n"),
       "spec.window.mode: 'center' is for job files only | write around"},
      {manifest("  window: {duration: soon}\n"), "error 6:22 spec.window.duration: "},
      {manifest("  window: {duration: 366d}\n"), "256"},
      {manifest("  timezone: Mars/Base\n"), "spec.timezone: "},
      {manifest("  dst: never\n"), "spec.dst: "},
      {manifest("  policy: {deadline: 90}\n"),
       "spec.policy.deadline: expected a text, found a whole number | put it in quotes"},
      {manifest("  policy: {concurrency: Forbid}\n"), "spec.policy.concurrency: "},
      {manifest("  policy: {concurrency: queue, deadline: 1h}\n"),
       "spec.policy.concurrency: queue is for krond only | use allow, forbid or replace"},
      {manifest("  policy: {pauseAfter: 3}\n"), "spec.policy.pauseAfter: it is for krond only"},
      {manifest("  pool: db:4\n"), "spec.pool: it is for krond only"},
      {manifest("  policy: {catchUpSpread: 10m}\n"), "spec.policy.catchUpSpread: it is for krond only"},
      {manifest("  ping: https://hc.example/x\n"), "spec.ping: it is for krond only"},
      {manifest("  env_file: /etc/x\n"), "spec.env_file: it is for krond only: a KronJob's containers have envFrom"},
      {manifest("  credential: {a: /etc/x}\n"), "spec.credential: it is for krond only"},
      {manifest("  mask_output: true\n"), "spec.mask_output: it is for krond only"},
      {manifest("  memory_max: 1G\n"), "spec.memory_max: it is for krond only"},
      {manifest("  tasks_max: 5\n"), "spec.tasks_max: it is for krond only"},
      {manifest("  cpu_max: 50%\n"), "spec.cpu_max: it is for krond only"},
      {manifest("  notify: {to: [ops]}\n"),
       "spec.notify: it is for krond only: in Kubernetes alerts come from metrics"},
      {manifest("  retry: 3\n"), "spec.retry: it is for krond only: a Job tries again as often as backoffLimit says"},
      {manifest("  backoff: 30s\n"), "spec.backoff: it is for krond only: a Job waits 10s before its second attempt"},
      {manifest("  fails_on: stderr\n"),
       "spec.fails_on: it is for krond only: a Job fails by the exit codes that "
       "podFailurePolicy names"},
      {manifest("  success_exit: [0, 2]\n"),
       "spec.success_exit: it is for krond only: which exit codes end a Job says "
       "podFailurePolicy"},
      {manifest("  policy: {suspend: maybe}\n"), "spec.policy.suspend: expected true or false"},
      {manifest("  distribution: {name: normal, params: {mu: 0.5}}\n"),
       "spec.distribution.params.mu: expected a text, found "},
      {manifest("  distribution: {name: gamma}\n"), "spec.distribution.name: "},
      {manifest("  constraints: {only: {hours: 9-17}}\n"),
       "spec.constraints.only.hours: expected a list of texts, found a text"},
      {manifest("  constraints: {only: {hours: [\"25\"]}}\n"), "spec.constraints.only.hours: "},
      {manifest("  constraints: {avoid: {}}\n"), "spec.constraints.avoid: it has no clause"},
      {manifest("  constraints: {avoid: {calendar: [feasts]}}\n"), "spec.constraints.avoid.calendar: "},
      {manifest("  constraints: {avoid: {calendar: [h]}, calendars: {h: {file: fr.ics}}}\n"),
       "spec.constraints.calendars.h: a KronJob has no files | list the days of the calendar in [ ]"},
      {manifest("  constraints: {hours: [9-17]}\n"), "error 6:17 unknown key 'hours'"},
      {manifest("  failedJobsHistoryLimit: -1\n"), "spec.failedJobsHistoryLimit: must be from 0 to 1000"},
      {manifest("  seed: {salt: " + std::string(257, 's') + "}\n"), "spec.seed.salt: it has 257 bytes | at most 256"},
      {instead("restartPolicy: Never", "restartPolicy: Always"),
       "restartPolicy: the pods of a Job need a restartPolicy | write Never or OnFailure"},
      {instead("[{name: c, image: x}]", "[]"), "containers: a pod needs at least one container"},
      {good.substr(0, good.find("  jobTemplate")), "spec.jobTemplate: a Job template with a spec is required"},
      {good.substr(0, good.find("spec:")), "error 1:1 spec: a spec with schedule and jobTemplate is required"},
      {"kind: [", "error "},
      {"- 1\n", "expected a Kubernetes object, found a list"},
  };
  for (const auto& [text, told] : cases) {
    const ReadBack read = read_text(text);
    EXPECT_THAT(read.told(), Contains(HasSubstr(told))) << text;
    EXPECT_TRUE(read.manifests.empty() || !read.manifests.front().is_good) << text;
  }
}

TEST(Manifest, AMistakeIsToldOnce) {
  EXPECT_EQ(read_text(manifest(kDeadline + "  window: 3\n")).problems.size(), 1U);
  EXPECT_EQ(read_text(manifest("  policy: {deadline: 90}\n")).problems.size(), 1U);
}

TEST(Manifest, WarnsOfWhatIsTakenAndProbablyNotMeant) {
  struct Case {
    std::string text;
    const char* told;
  };
  const auto with_template = [&](const std::string& metadata) {
    std::string text = manifest(kDeadline);
    return text.replace(text.find("  jobTemplate:\n"), 15, "  jobTemplate:\n    metadata: " + metadata + "\n");
  };
  const std::vector<Case> cases{
      {manifest("  policy: {deadline: 29s}\n"),
       "warning 6:12 a deadline under 30s can miss a period when the leader dies; this one is 29s | allow for a "
       "take-over"},
      {manifest(""), "warning 4:1 a deadline under 30s can miss a period when the leader dies; this one is 0s"},
      {with_template("{labels: {kueue.x-k8s.io/queue-name: q}}"),
       "only while nobody deletes a Job before it is recorded"},
      {with_template("{labels: {kron.io/name: x}}"), "warning 8:25 kron.io/name is the operator's"},
      {with_template("{name: x}"), "the name of the template is not used"},
      {manifest(kDeadline, "{name: report, annotations: {kron.io/run-now: a}}"), "use kron kube trigger"},
  };
  for (const auto& [text, told] : cases) {
    const ReadBack read = read_text(text);
    EXPECT_THAT(read.told(), ElementsAre(HasSubstr(told))) << text;
    EXPECT_TRUE(read.manifests.front().is_good) << text;
  }
  EXPECT_THAT(read_text(manifest("  policy: {deadline: 30s}\n")).told(), IsEmpty());
}

TEST(Manifest, TogetherAndOverTimeTheyAreLookedAtToo) {
  const Instant now = testing::at("2026-03-01T00:00:00Z");
  const auto told = [&](const std::string& yaml) {
    return ReadBack{{}, lint_manifests(read_text(yaml).manifests, now)}.told();
  };
  EXPECT_THAT(told(manifest(kDeadline)), IsEmpty());
  EXPECT_THAT(told(manifest(kDeadline) + "---\n" + manifest(kDeadline)),
              ElementsAre(HasSubstr("error 14:1 the KronJob 'shop/report' is given twice; it is at a.yaml:1 too")));
  EXPECT_THAT(told(manifest(kDeadline + "  window: {duration: 25h}\n")),
              ElementsAre(HasSubstr("up to 2 periods are open at once")));
  EXPECT_THAT(told(manifest(kDeadline + "  constraints: {only: {hours: [\"5\"]}}\n")),
              ElementsAre(HasSubstr("has an allowed time in its window")));
  std::string many;
  for (int i = 0; i < 20; ++i) many += manifest(kDeadline, "{name: n" + std::to_string(i) + "}") + "---\n";
  EXPECT_THAT(told(many), ElementsAre(HasSubstr("window: {mode: after, duration: 5m}")));
}

}  // namespace
}  // namespace kron::kronjobs
