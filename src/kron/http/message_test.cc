#include "kron/http/message.h"

#include <gtest/gtest.h>

namespace kron::http {
namespace {

TEST(Message, TheFirstHeaderOrParameterOfANameCounts) {
  Request request;
  request.headers = {{"accept", "a"}, {"accept", "b"}};
  request.query = {{"n", ""}, {"n", "2"}};
  EXPECT_EQ(request.header("accept"), "a");
  EXPECT_EQ(request.header("host"), std::nullopt);
  EXPECT_EQ(request.parameter("n"), "");
  EXPECT_EQ(request.parameter("m"), std::nullopt);
}

TEST(Message, AProblemSaysWhatIsWrongAndWhere) {
  const Response response = problem(Error{Code::invalid, "no \"minute\" 61", "schedule", 3});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"urn:kron:problem:invalid","title":"Bad Request","status":400,"detail":"no \"minute\" 61",)"
            R"("field":"schedule","column":3})");
}

TEST(Message, AProblemOfHttpHasNoCode) {
  const Response response = problem(405, "only GET");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"only GET"})");
}

TEST(Message, EveryErrorComesBackFromItsProblem) {
  for (const Code code : {Code::invalid, Code::not_found, Code::unreadable, Code::unreachable, Code::refused,
                          Code::conflict, Code::io, Code::internal}) {
    const Error error{code, "a sentence", "field", 7};
    EXPECT_EQ(error_in(problem(error)), error) << name_of(code);
    EXPECT_EQ(error_in(problem(Error{code, "b"})), (Error{code, "b"})) << name_of(code);
  }
}

TEST(Message, AnAnswerThatIsNoProblemIsAnErrorByItsStatus) {
  const struct {
    int status;
    Code code;
  } table[] = {{400, Code::invalid},  {403, Code::refused},  {404, Code::not_found},
               {409, Code::conflict}, {413, Code::invalid},  {503, Code::unreachable},
               {500, Code::internal}, {599, Code::internal}, {302, Code::invalid}};
  for (const auto& row : table) {
    const Error error = error_in(Response{row.status, "text/html", {}, "<html>"});
    EXPECT_EQ(error.code, row.code) << row.status;
    EXPECT_NE(error.message.find(std::to_string(row.status)), std::string::npos);
  }
  EXPECT_EQ(error_in(Response{404, "application/problem+json", {}, "{"}).code, Code::not_found);
  EXPECT_EQ(error_in(Response{404, "application/problem+json", {}, R"({"type":7,"column":-1})"}).column, 0U);
  EXPECT_EQ(error_in(problem(405, "only GET")).message, "only GET");
}

}  // namespace
}  // namespace kron::http
