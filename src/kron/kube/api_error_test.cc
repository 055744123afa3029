#include "kron/kube/api_error.h"

#include <gtest/gtest.h>

namespace kron::kube {
namespace {

std::optional<ApiError> error_of(int code, std::string_view json) { return error_in({code, parse_json(json).value()}); }

TEST(ApiErrors, AreReadFromTheStatus) {
  EXPECT_FALSE(error_of(201, "{}"));
  const auto exists = error_of(409, R"({"kind":"Status","reason":"AlreadyExists","message":"jobs a already exists"})");
  EXPECT_EQ(exists->code, 409);
  EXPECT_EQ(exists->reason, "AlreadyExists");
  EXPECT_EQ(exists->message, "jobs a already exists");
  const auto slow = error_of(429, R"({"details":{"retryAfterSeconds":7}})");
  EXPECT_EQ(slow->retry_after, Seconds(7));
  EXPECT_EQ(slow->message, "the API server answered 429");
}

TEST(ApiErrors, KnowANamespaceThatIsBeingTerminated) {
  EXPECT_TRUE(error_of(403, R"({"details":{"causes":[{"reason":"NamespaceTerminating"}]}})")->namespace_terminating);
  EXPECT_FALSE(error_of(403, R"({"details":{"causes":[{"reason":"Quota"}]}})")->namespace_terminating);
}

TEST(ApiErrors, AreFinalWhenTheRequestItselfIsWrong) {
  for (const int code : {400, 413, 422}) EXPECT_TRUE(is_final({.code = code, .reason = {}, .message = {}})) << code;
  for (const int code : {401, 403, 404, 409, 410, 429, 500, 503}) {
    EXPECT_FALSE(is_final({.code = code, .reason = {}, .message = {}})) << code;
  }
}

}  // namespace
}  // namespace kron::kube
