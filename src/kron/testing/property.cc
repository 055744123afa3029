#include "kron/testing/property.h"

#include <sstream>
#include <string>

namespace kron::testing {

void for_all_draws(int cases, const std::function<void()>& property) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata about;
  about.id = std::string(test->test_suite_name()) + "/" + test->name();
  about.description = test->name();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = scaled(cases);
  const auto result = rc::detail::checkTestable(property, about, params);
  if (result.is<rc::detail::SuccessResult>()) return;
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  FAIL() << message.str();
}

}  // namespace kron::testing
