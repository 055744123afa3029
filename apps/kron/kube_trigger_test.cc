#include <gtest/gtest.h>

#include "kron/operator/names.h"
#include "kube_rig.h"

// `kron kube trigger`: what it writes, when it refuses to, and what it waits for.
namespace kron::cli {
namespace {

class KubeTrigger : public KubeVerbs {
 protected:
  KubeTrigger() { put("report", spec("0 3 * * *")); }

  std::string run_now() { return stored("report", {"metadata", "annotations", "kron.io/run-now"}); }
  static std::string job_of(const std::string& token) { return kronjobs::manual_job_name("shop", "report", token); }

  static void set_status(kube::ApiServer& server, const std::string& json) {
    server.edit("kronjobs", "shop", "report",
                [&](const Node& node) { return kube::with(node, {"status"}, parse_json(json).value()); });
  }
  // What an operator does when it looks at the KronJob: as the n-th request comes.
  void at_request(int n, std::function<void(kube::ApiServer&)> work) {
    port_.meanwhile([count = 0, n, work = std::move(work)](kube::ApiServer& server, const kube::Request&) mutable {
      if (++count == n) work(server);
    });
  }
  static void make_job(kube::ApiServer& server, const std::string& name) {
    server.create(
        "jobs",
        parse_json(R"({"metadata":{"name":")" + name + R"(","namespace":"shop"},"spec":{"template":{}}})").value());
  }
};

TEST_F(KubeTrigger, AsksByTheAnnotationAndNamesTheJob) {
  const Ran ran = kube({"trigger", "report", "--id", "one"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "asked for a run of shop/report; its Job is " + job_of("one") + "\n");
  EXPECT_EQ(run_now(), R"("one")");
  EXPECT_EQ(stored("report", {"metadata", "generation"}), "1") << "the spec is not touched";
}

TEST_F(KubeTrigger, OtherAnnotationsStay) {
  port_.with_server([](kube::ApiServer& server) {
    server.edit("kronjobs", "shop", "report", [](const Node& node) {
      return kube::with_text(node, {"metadata", "annotations", "team"}, "a");
    });
  });
  EXPECT_EQ(kube({"trigger", "report", "--id", "one"}).status, 0);
  EXPECT_EQ(stored("report", {"metadata", "annotations"}), R"({"team":"a","kron.io/run-now":"one"})");
}

TEST_F(KubeTrigger, WithoutAnIdEachCallIsARunOfItsOwn) {
  EXPECT_EQ(kube({"trigger", "report"}).status, 0);
  const std::string first = run_now();
  port_.with_server([&](kube::ApiServer& server) {
    set_status(server, R"({"observedGeneration":1,"lastManual":{"token":)" + first + "}}");
  });
  EXPECT_EQ(kube({"trigger", "report"}).status, 0);
  EXPECT_NE(run_now(), first);
}

TEST_F(KubeTrigger, TheSameIdAgainChangesNothing) {
  EXPECT_EQ(kube({"trigger", "report", "--id", "one"}).status, 0);
  const std::string version = stored("report", {"metadata", "resourceVersion"});
  const Ran again = kube({"trigger", "report", "--id", "one", "--format", "json"});
  EXPECT_EQ(again.out, R"({"namespace":"shop","name":"report","id":"one","jobName":")" + job_of("one") +
                           R"(","changed":false})" + "\n");
  port_.with_server([](kube::ApiServer& server) {
    server.edit("kronjobs", "shop", "report", [](const Node& node) {
      return kube::without(node, {"metadata", "annotations"});
    });
    set_status(server, R"({"observedGeneration":1,"lastManual":{"token":"one"}})");
  });
  EXPECT_THAT(kube({"trigger", "report", "--id", "one"}).out, StartsWith("asked before for a run of"));
  EXPECT_EQ(run_now(), "") << "it has run";
}

TEST_F(KubeTrigger, ARunThatIsAskedForIsNotPushedAside) {
  EXPECT_EQ(kube({"trigger", "report", "--id", "one"}).status, 0);
  const Ran other = kube({"trigger", "report", "--id", "two"});
  EXPECT_EQ(other.status, 4);
  EXPECT_THAT(other.err, HasSubstr("the run 'one' was asked for"));
  EXPECT_EQ(run_now(), R"("one")");
  port_.with_server([](kube::ApiServer& server) {
    server.edit("kronjobs", "shop", "report", [](const Node& node) {
      return kube::with_text(node, {"metadata", "annotations", "kron.io/run-now"}, "no token!");
    });
  });
  EXPECT_EQ(kube({"trigger", "report", "--id", "two"}).status, 0) << "the operator ignores what is no token";
}

TEST_F(KubeTrigger, WhatWouldRunNothingIsRefused) {
  port_.with_server([](kube::ApiServer& server) { set_status(server, "{}"); });
  const Ran unseen = kube({"trigger", "report"});
  EXPECT_EQ(unseen.status, 4);
  EXPECT_THAT(unseen.err, HasSubstr("no operator has looked at this KronJob yet"));
  EXPECT_EQ(run_now(), "");
  put("broken", spec("99 * * * *"));
  const Ran broken = kube({"trigger", "broken"});
  EXPECT_EQ(broken.status, 4);
  EXPECT_THAT(broken.err, HasSubstr("its spec is invalid: spec.schedule: "));
}

TEST_F(KubeTrigger, AnIdThatIsNoneAsksNobody) {
  for (const std::string& id : {std::string("a b"), std::string("a/b"), std::string(64, 'a')}) {
    const Ran ran = kube({"trigger", "report", "--id", id});
    EXPECT_EQ(ran.status, 2) << id;
    EXPECT_THAT(ran.err, HasSubstr("--id: ")) << id;
  }
  EXPECT_EQ(kube({"trigger", "report", "--wait", "--timeout", "soon"}).status, 1);
  EXPECT_EQ(kube({"trigger", "report", "--timeout", "1s"}).status, 2) << "without --wait";
  EXPECT_THAT(port_.asked(), IsEmpty());
}

TEST_F(KubeTrigger, WaitsForTheEndOfTheJob) {
  for (const bool is_success : {true, false}) {
    const std::string token = is_success ? "good" : "bad";
    const std::string job = job_of(token);
    at_request(5, [&](kube::ApiServer& server) {
      set_status(server, R"({"observedGeneration":1,"lastManual":{"token":")" + token + R"(","outcome":"executed"}})");
      make_job(server, job);
      server.finish("shop", job, is_success);
    });
    const Ran ran = kube({"trigger", "report", "--id", token, "--wait"});
    EXPECT_EQ(ran.status, is_success ? 0 : 1) << ran.err;
    EXPECT_EQ(ran.out, job + (is_success ? " completed\n" : " failed\n"));
  }
}

TEST_F(KubeTrigger, TellsWhyARunWasSkipped) {
  at_request(3, [](kube::ApiServer& server) {
    set_status(
        server,
        R"({"observedGeneration":1,"lastManual":{"token":"one","outcome":"skipped","reason":"concurrency_forbid"}})");
  });
  const Ran ran = kube({"trigger", "report", "--id", "one", "--wait"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "skipped (concurrency_forbid): no Job was started\n");
  EXPECT_THAT(kube({"trigger", "report", "--id", "one", "--wait", "--format", "json"}).out,
              HasSubstr(R"("result":"skipped","reason":"concurrency_forbid"})"));
}

TEST_F(KubeTrigger, AJobThatIsDeletedBeforeItsEndIsNoSuccess) {
  const std::string job = job_of("one");
  port_.meanwhile([count = 0, job](kube::ApiServer& server, const kube::Request&) mutable {
    ++count;
    if (count == 3) make_job(server, job);
    if (count == 4) {
      server.remove("jobs", "shop", job, kube::ApiServer::Deletion::background);
      server.collect_garbage();
    }
  });
  const Ran ran = kube({"trigger", "report", "--id", "one", "--wait"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, job + " was deleted before its end was seen\n");
}

TEST_F(KubeTrigger, StopsWaitingWhenItIsToldTo) {
  const Ran ran = kube({"trigger", "report", "--id", "one", "--wait", "--timeout", "0s"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("ask again with --id one"));
  EXPECT_EQ(run_now(), R"("one")");
}

TEST_F(KubeTrigger, AnotherRunThatTookItsPlaceIsSaid) {
  at_request(3, [](kube::ApiServer& server) {
    server.edit("kronjobs", "shop", "report", [](const Node& node) {
      return kube::with_text(node, {"metadata", "annotations", "kron.io/run-now"}, "two");
    });
  });
  const Ran ran = kube({"trigger", "report", "--id", "one", "--wait"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("another run was asked for before the operator took this one"));
}

}  // namespace
}  // namespace kron::cli
