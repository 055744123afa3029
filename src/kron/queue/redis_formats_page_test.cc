#include <gtest/gtest.h>
#include <set>

#include "kron/queue/redis_queue_rig.h"
#include "kron/testing/golden.h"

// docs/formats.md says what every key and every field of a task in Redis is.
namespace kron::testing {
namespace {

// The rows of the section, by what stands between the first backquotes of each.
std::set<std::string> rows_of(const std::string& section) {
  const std::string page = read_file(data_path("../../docs/formats.md"));
  const std::size_t begin = page.find("\n### " + section + "\n");
  EXPECT_NE(begin, std::string::npos) << section;
  const std::string text = page.substr(begin + 1, page.find("\n#", begin + 5) - begin);
  std::set<std::string> names;
  for (std::size_t at = 0; (at = text.find("\n| `", at)) != std::string::npos;) {
    at += 4;
    const std::string row = text.substr(at, text.find('\n', at) - at);
    const std::string cell = "`" + row.substr(0, row.find(" |"));
    for (std::size_t name = 0; (name = cell.find('`', name)) != std::string::npos;) {
      const std::size_t end = cell.find('`', name + 1);
      names.insert(cell.substr(name + 1, end - name - 1));
      name = end + 1;
    }
  }
  return names;
}

// A key without what is a task's, a type's or a request's.
std::string pattern_of(std::string key) {
  key.erase(0, std::string("{t}").size());
  for (const auto& [prefix, rest] :
       {std::pair("t:", "<id>"), {"effects:", "<id>"}, {"ready:", "<type>"}, {"grant:", "<request>"}}) {
    const std::string whole = std::string(":kron:q:") + prefix;
    if (key.starts_with(whole)) return whole + rest;
  }
  return key;
}

TEST(RedisFormatsPage, HasEveryKeyAndEveryFieldOfATask) {
  RedisRig rig;
  NewTask task = task_named("a");
  task.priority = 1;
  task.run_at = kQueueStart;
  task.timeout = Seconds(10);
  task.unique_key = "k";
  rig.submit(task);
  rig.submit(task_named("b"));
  NewTask later = task_named("later");
  later.run_at = kQueueStart + Seconds(10);
  rig.submit(later);
  ASSERT_TRUE(rig.queue().set_limit("MAIL", 10));
  const auto first = rig.lease({.worker = "w", .count = 1, .holder = Holder::in_process, .starts = true});
  ASSERT_TRUE(rig.queue().fail_attempt({first.at(0).key, "x"}));
  rig.clock.advance(Seconds(100));
  for (const Lease& lease : rig.lease({.worker = "w", .count = 10, .holder = Holder::in_process, .starts = true})) {
    if (lease.task_id != "a") continue;
    CommitRequest commit{.key = lease.key, .result = "r", .follow_ups = {task_named("f")}, .files = {{"x", "y"}}};
    EXPECT_EQ(rig.queue().commit(commit).value().outcome, LeaseOutcome::accepted);
  }
  EXPECT_EQ(rig.queue().cancel("b"), CancelOutcome::cancelled);
  NewTask keyed = task_named("keyed");
  keyed.unique_key = "k";
  rig.submit(keyed);
  later.id = "again";
  later.run_at = kQueueStart + Seconds(1000);
  rig.submit(later);

  rig.server_ahead -= Seconds(3600);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig.queue().expire());

  std::set<std::string> keys{":kron:wake"};
  std::set<std::string> fields;
  for (const RedisValue& key : rig.execute({"KEYS", "*"}).items) {
    keys.insert(pattern_of(key.text));
    if (!key.text.starts_with(rig.key("t:"))) continue;
    for (const RedisValue& field : rig.execute({"HKEYS", key.text}).items) fields.insert(field.text);
  }
  EXPECT_EQ(rows_of("Tasks in Redis"), keys);
  EXPECT_EQ(rows_of("Fields of a task in Redis"), fields);
}

}  // namespace
}  // namespace kron::testing
