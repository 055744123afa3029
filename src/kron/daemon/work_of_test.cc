#include "kron/daemon/work_of.h"

#include <gtest/gtest.h>

namespace kron::daemon {
namespace {

TEST(WorkOf, VariablesArePassedOnWhereTheJobHasNone) {
  const RunSpec spec{.run_id = "r1", .command = {"true"}, .environment = {{"LANG", "C"}}};
  const RunWork work = with_variables(spec, {{"LANG", "de_DE"}, {"TOKEN", "t"}});
  const jobs::Environment expected{{"LANG", "C"}, {"TOKEN", "t"}};
  EXPECT_EQ(std::get<RunSpec>(work).environment, expected);
}

TEST(WorkOf, ATaskHasNoVariables) {
  const RunWork work = with_variables(TaskToSubmit{"id", "MAIL", "null"}, {{"TOKEN", "t"}});
  EXPECT_EQ(std::get<TaskToSubmit>(work).id, "id");
}

}  // namespace
}  // namespace kron::daemon
