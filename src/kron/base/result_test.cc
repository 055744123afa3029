#include "kron/base/result.h"

#include <gtest/gtest.h>
#include <set>

namespace kron {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return fail(Code::invalid, "odd", "number", 3);
  return number / 2;
}

Status passed_on(int number) {
  const Result<int> half = half_of(number);
  if (!half) return fail(half.error());
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(*half_of(4), 2);
  const Result<int> refused = half_of(5);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), (Error{Code::invalid, "odd", "number", 3}));
}

TEST(Result, AnErrorPassesOnUnchanged) {
  EXPECT_TRUE(passed_on(4).has_value());
  EXPECT_EQ(passed_on(5).error(), half_of(5).error());
}

TEST(Result, EveryCodeHasItsRow) {
  const struct {
    Code code;
    std::string_view name;
    int exit_status;
    int http_status;
  } rows[] = {
      {Code::invalid, "invalid", 1, 400},
      {Code::not_found, "not_found", 1, 404},
      {Code::unreadable, "unreadable", 2, 400},
      {Code::unreachable, "unreachable", 3, 503},
      {Code::refused, "refused", 4, 403},
      {Code::conflict, "conflict", 4, 409},
      {Code::io, "io", 2, 500},
      {Code::internal, "internal", 70, 500},
  };
  std::set<std::string_view> names;
  for (const auto& row : rows) {
    EXPECT_EQ(name_of(row.code), row.name);
    EXPECT_EQ(exit_status(row.code), row.exit_status) << row.name;
    EXPECT_EQ(http_status(row.code), row.http_status) << row.name;
    names.insert(row.name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::internal) + 1) << "a code has no row in this test";
}

}  // namespace
}  // namespace kron
