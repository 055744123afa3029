#include "kron/api/job_files_json.h"

#include <gtest/gtest.h>

#include "kron/json/document.h"

namespace kron::api {
namespace {

RefusedFile refused(int number) {
  return {.file = "/c/" + std::to_string(number) + ".kron", .reason = "others can write it", .errors = 1};
}

Node written(const JobFilesStatus& files, const std::optional<std::vector<FileChange>>& changes) {
  JsonWriter json;
  json.begin_map();
  write_job_files(json, files, changes);
  const Node whole = parse_json(json.end_map().take()).value();
  return *whole.find("jobFiles");
}

TEST(JobFilesJson, ListsTheFirstHundredAndCountsThemAll) {
  JobFilesStatus files;
  std::vector<FileChange> changes;
  for (int i = 0; i < 101; ++i) {
    files.refused.push_back(refused(i));
    changes.push_back({"/c/" + std::to_string(i) + ".kron", FileChange::How::added});
  }
  const Node node = written(files, changes);
  EXPECT_EQ(*node.find("refusedCount")->as<std::int64_t>(), 101);
  EXPECT_EQ(node.find("refused")->as<Node::List>()->size(), 100U);
  EXPECT_EQ(*node.find("changedCount")->as<std::int64_t>(), 101);
  EXPECT_EQ(node.find("changed")->as<Node::List>()->size(), 100U);
}

TEST(JobFilesJson, WhatNobodyLookedForIsNull) {
  const Node node = written({}, std::nullopt);
  EXPECT_TRUE(node.find("changed")->is_null());
  EXPECT_TRUE(node.find("changedCount")->is_null());
  EXPECT_TRUE(node.find("readAt")->is_null());
}

TEST(JobFilesJson, NoJobAtAllNamesTheFirstRefusedFile) {
  DaemonStatus status;
  EXPECT_EQ(why_no_job(status), "");
  status.job_files.refused = {refused(1)};
  EXPECT_EQ(why_no_job(status), "no job is loaded: /c/1.kron: others can write it");
  status.job_files.refused.push_back(refused(2));
  EXPECT_EQ(why_no_job(status), "no job is loaded: /c/1.kron: others can write it; 2 files were refused in all");
  status.jobs = 1;
  EXPECT_EQ(why_no_job(status), "");
}

}  // namespace
}  // namespace kron::api
