#include "kron/web/assets.h"

#include <algorithm>
#include <zlib.h>

#include "kron/base/text.h"

namespace kron::web {
namespace {

// The page is ours, and small; a limit all the same.
constexpr std::size_t kMostInflated = std::size_t{4} << 20;

std::string inflated(std::string_view gzip) {
  std::string text(kMostInflated, '\0');
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = inflate(&stream, Z_FINISH);
  text.resize(result == Z_STREAM_END ? stream.total_out : 0);
  inflateEnd(&stream);
  return text;
}

bool takes_gzip(const http::Request& request) {
  std::string_view list = request.header("accept-encoding").value_or("");
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const std::size_t end = std::min(item.find(';'), item.size());
    if (!equals_ignoring_case(trimmed(item.substr(0, end)), "gzip")) continue;
    const std::string_view weight = item.substr(end);
    return weight.find("q=0") == std::string_view::npos || weight.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

}  // namespace

const Asset* asset_at(std::string_view path) {
  const auto all = assets();
  const auto found = std::ranges::find(all, path, &Asset::path);
  return found == all.end() ? nullptr : &*found;
}

http::Response answer_with(const Asset& asset, const http::Request& request) {
  http::Response response{.content_type = std::string(asset.content_type)};
  response.headers.emplace_back("ETag", asset.etag);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.headers.emplace_back("Cache-Control",
                                asset.is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (request.header("if-none-match") == asset.etag) {
    response.status = 304;
  } else if (takes_gzip(request)) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = std::string(asset.gzip);
  } else {
    response.body = inflated(asset.gzip);
  }
  return response;
}

}  // namespace kron::web
