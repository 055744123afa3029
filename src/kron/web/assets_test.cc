#include "kron/web/assets.h"

#include <gmock/gmock.h>

#include "kron/base/sha256.h"

namespace kron::web {
namespace {

using ::testing::HasSubstr;

const Asset& page() { return *asset_at("/"); }

TEST(Assets, ThePageNamesItsFilesByWhatTheyHold) {
  ASSERT_NE(asset_at("/"), nullptr);
  const std::string html = answer_with(page(), {.method = "GET"}).body;
  int named = 0;
  for (const Asset& asset : assets()) {
    if (asset.path == "/") continue;
    EXPECT_THAT(html, HasSubstr(std::string(asset.path)));
    const std::string contents = answer_with(asset, {.method = "GET"}).body;
    EXPECT_THAT(std::string(asset.path), HasSubstr("/a/" + hex(sha256({contents})).substr(0, 12) + "/"));
    EXPECT_TRUE(asset.is_immutable);
    ++named;
  }
  EXPECT_GE(named, 2);
  EXPECT_FALSE(page().is_immutable);
}

TEST(Assets, GoAsTheClientTakesThem) {
  const auto with = [](const char* accepted) {
    return answer_with(page(), {.method = "GET", .headers = {{"accept-encoding", accepted}}});
  };
  for (const char* accepted : {"gzip", "br, gzip;q=0.5", "deflate,GZIP", "gzip;q=1.0"}) {
    EXPECT_EQ(with(accepted).header("Content-Encoding"), "gzip") << accepted;
    EXPECT_EQ(with(accepted).body, page().gzip) << accepted;
  }
  for (const char* accepted : {"", "br", "gzip;q=0", "gzip;q=0.0", "xgzip"}) {
    EXPECT_EQ(with(accepted).header("Content-Encoding"), std::nullopt) << accepted;
    EXPECT_THAT(with(accepted).body, HasSubstr("<!doctype html>")) << accepted;
  }
}

TEST(Assets, OneThatIsThereIsNotSentAgain) {
  const auto known = answer_with(page(), {.method = "GET", .headers = {{"if-none-match", std::string(page().etag)}}});
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.body, "");
  const auto other = answer_with(page(), {.method = "GET", .headers = {{"if-none-match", "\"x\""}}});
  EXPECT_EQ(other.status, 200);
}

// The budget of the page: on a slow line it is there within a second.
TEST(Assets, AreSmall) {
  std::size_t bytes = 0;
  for (const Asset& asset : assets()) bytes += asset.gzip.size();
  EXPECT_LE(bytes, std::size_t{60} << 10);
}

}  // namespace
}  // namespace kron::web
