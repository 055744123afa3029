#include "kron/api/secrets.h"

#include <gtest/gtest.h>

#include "kron/json/writer.h"

namespace kron::api {
namespace {

std::string shown(Right right, std::string_view definition) {
  JsonWriter json;
  json.node(shown_to(right, parse_json(definition).value()));
  return json.take();
}

constexpr std::string_view kDefinition =
    R"({"name":"a","env":{"DB_PASSWORD":"hunter2","LANG":"C"},"stdin":"hunter3","ping":"https://h/hunter4","command":"true"})";

TEST(Secrets, OnlyWhoAdministersSeesValuesOfTheEnvironmentStandardInputAndPings) {
  constexpr std::string_view kHidden =
      R"({"name":"a","env":{"DB_PASSWORD":null,"LANG":null},"stdin":null,"ping":null,"command":"true"})";
  EXPECT_EQ(shown(Right::admin, kDefinition), kDefinition);
  for (const Right right : {Right::operate, Right::read, Right::none}) EXPECT_EQ(shown(right, kDefinition), kHidden);
}

TEST(Secrets, WhatHasNoneIsShownAsItIs) {
  EXPECT_EQ(shown(Right::read, R"({"name":"a","task":"t"})"), R"({"name":"a","task":"t"})");
  EXPECT_EQ(shown(Right::read, R"({"env":{}})"), R"({"env":{}})");
}

TEST(Secrets, AnEnvironmentThatIsNoMapIsHiddenAsAWhole) {
  EXPECT_EQ(shown(Right::read, R"({"env":["A=hunter2"]})"), R"({"env":null})");
}

}  // namespace
}  // namespace kron::api
