#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"
#include "kron/json/document.h"
#include "kron/kube/object.h"
#include "kron/kube/transport.h"

// What the bodies of answers say. Errors have code invalid and show nothing of the text. Bodies are read with simdjson:
// lists of tens of thousands of objects are read while Jobs are due.
namespace kron::kube {

// One JSON document, by the rules of parse_json, of any size that the transport lets through.
Result<Node> read_body(std::string_view text);

struct ListPage {
  std::string resource_version;
  std::string next;  // the token of the next page; empty: this is the last
  std::vector<Node> items;
};
Result<ListPage> read_list_page(std::string_view text);

struct WatchEvent {
  enum class Type : std::uint8_t { added, modified, deleted, bookmark, error };
  Type type = Type::added;
  Node object = {};              // of an error: a Status
  Result<ObjectMeta> meta = {};  // of what was added, modified or deleted
  bool is_known = false;         // as the caller said; then there is no object
};
// Of what was added or modified, `is_known` is asked first: most events repeat what the answers to own calls have said,
// and an object is much dearer than its head.
using IsKnown = std::function<bool(const ObjectMeta&)>;
Result<WatchEvent> read_watch_event(std::string_view line, const IsKnown& is_known = {});

// For those who want objects. A body that is no JSON is an empty object of an error (proxies answer with pages for
// people); of a success it means that nobody knows what was done.
//
// `left_out` may name parts that the caller does not look at, by their keys joined with dots: most of an object is the
// template of its pods.
using Parts = std::span<const std::string_view>;
using LeftOut = std::function<Parts(const ObjectMeta&)>;
Reply reply_of(const Outcome& outcome, const LeftOut& left_out = {});

// For a value in a query: all but letters, digits and -._~ as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace kron::kube
