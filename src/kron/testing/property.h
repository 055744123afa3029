#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sstream>
#include <string>
#include <utility>

#include "kron/testing/scale.h"

namespace kron::testing {

// Tries a RapidCheck property on scaled(cases) random inputs. A failure fails the running test and shows the smallest
// counterexample with the RC_PARAMS line that replays it.
template <class Property>
void for_all(int cases, Property&& property) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata about;
  about.id = std::string(test->test_suite_name()) + "/" + test->name();
  about.description = test->name();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = scaled(cases);
  const auto result = rc::detail::checkTestable(std::forward<Property>(property), about, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  FAIL() << message.str();
}

}  // namespace kron::testing
