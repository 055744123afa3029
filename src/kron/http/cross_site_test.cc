#include "kron/http/cross_site.h"

#include <gtest/gtest.h>

namespace kron::http::cross_site_test {
namespace {

// 200: nothing against it.
int status_of(const std::optional<Response>& refusal) { return refusal ? refusal->status : 200; }

int from(std::string origin, std::string_view scheme = {}, std::string host = "127.0.0.1:8126") {
  const Request head{.headers = {{"host", std::move(host)}, {"origin", std::move(origin)}}};
  return status_of(refusal_of_other_origin(head, scheme));
}

TEST(CrossSite, WhatIsNoBrowserSaysNothing) {
  const Request head{.headers = {{"host", "krond"}}};
  EXPECT_EQ(status_of(refusal_of_other_origin(head)), 200);
  EXPECT_EQ(status_of(refusal_of_other_origin(head, "http")), 200);
  EXPECT_EQ(status_of(refusal_of_other_site(head)), 200);
}

TEST(CrossSite, AnOriginMustBeTheHostThatIsAsked) {
  EXPECT_EQ(from("http://127.0.0.1:8126"), 200);
  EXPECT_EQ(from("https://127.0.0.1:8126"), 200) << "a proxy may have terminated TLS";
  EXPECT_EQ(from("https://Kron.Example", {}, "kron.example"), 200);
  for (const char* origin : {"https://evil.example", "http://127.0.0.1:8127", "http://127.0.0.1", "null", "", "://",
                             "http://", "http://localhost:8126", "127.0.0.1:8126", "http://127.0.0.1:8126.evil.example",
                             "http://evil.example://127.0.0.1:8126", "http://127.0.0.1:8126/", "://127.0.0.1:8126"}) {
    EXPECT_EQ(from(origin), 403) << origin;
  }
  EXPECT_EQ(from("http://", {}, ""), 403) << "without a Host there is nothing to equal";
}

TEST(CrossSite, TheSchemeCountsForWhoKnowsIt) {
  EXPECT_EQ(from("http://127.0.0.1:8126", "http"), 200);
  EXPECT_EQ(from("https://127.0.0.1:8126", "http"), 403);
}

TEST(CrossSite, OnlyThePageItselfAndTheUserMayAsk) {
  const auto by = [](std::string site) {
    return status_of(refusal_of_other_site({.headers = {{"sec-fetch-site", std::move(site)}}}));
  };
  for (const char* site : {"same-origin", "none"}) EXPECT_EQ(by(site), 200) << site;
  for (const char* site : {"cross-site", "same-site", "Same-Origin", "", "anything"}) EXPECT_EQ(by(site), 403) << site;
}

TEST(CrossSite, WhatIsSaidTwiceIsNotUnderstood) {
  const Request head{.headers = {{"host", "a"},
                                 {"origin", "http://a"},
                                 {"origin", "http://evil.example"},
                                 {"sec-fetch-site", "none"},
                                 {"sec-fetch-site", "cross-site"}}};
  EXPECT_EQ(status_of(refusal_of_other_origin(head)), 400);
  EXPECT_EQ(status_of(refusal_of_other_site(head)), 400);
}

}  // namespace
}  // namespace kron::http::cross_site_test
