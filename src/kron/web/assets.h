#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kron/http/message.h"

namespace kron::web {

// A file of the page, compiled in by cmake/KronEmbed.cmake from web/dist.
struct Asset {
  std::string_view path;  // "/", "/a/<hash>/kron.js"
  std::string_view content_type;
  std::string_view etag;  // of what it holds
  std::string_view gzip;  // compressed
  bool is_immutable;      // its path holds its hash
};
std::span<const Asset> assets();

// Null: there is none.
const Asset* asset_at(std::string_view path);

// The answer to a GET of it: compressed if the client takes that, 304 if it has it.
http::Response answer_with(const Asset& asset, const http::Request& request);

}  // namespace kron::web
