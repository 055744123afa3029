#include "kron/http/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace kron::http {
namespace {

TEST(AcceptsGzip, WhenTheClientSaysSo) {
  for (const char* header :
       {"gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "deflate,gzip ; q=0.001", "*"}) {
    EXPECT_TRUE(accepts_gzip({.headers = {{"accept-encoding", header}}})) << header;
  }
  for (const char* header : {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "xgzip", "deflate, *;q=0"}) {
    EXPECT_FALSE(accepts_gzip({.headers = {{"accept-encoding", header}}})) << header;
  }
  EXPECT_FALSE(accepts_gzip({}));
}

std::string unzipped(const std::string& bytes, std::size_t size) {
  std::string text(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  ::inflateEnd(&stream);
  return text;
}

TEST(Gzipped, IsReadBackTheSame) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += R"({"identity":"job-)" + std::to_string(i) + R"(","running":0},)";
  const std::string bytes = gzipped(text);
  EXPECT_LT(bytes.size(), text.size() / 5);
  EXPECT_EQ(unzipped(bytes, text.size()), text);
  EXPECT_EQ(unzipped(gzipped(""), 0), "");
}

}  // namespace
}  // namespace kron::http
