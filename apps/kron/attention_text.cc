#include "attention_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "answer_text.h"
#include "kron/json/writer.h"
#include "why_text.h"

namespace kron::cli {
namespace {

constexpr std::array<std::string_view, 3> kToldByStatus{"file refused", "reload failed", "not scheduled"};

bool is_told_by_status(const Node& item) {
  return std::ranges::find(kToldByStatus, text_in(item, "matter")) != kToldByStatus.end();
}

std::string item_text(const Node& item, const ScreenTimes& times) {
  const std::string name = text_in(item, "name");
  const std::string since = text_in(item, "since");
  const std::string reason = text_in(item, "reason");
  std::string text = (name.empty() ? "" : name + ": ") + text_in(item, "what");
  if (!since.empty()) text += " since " + times.near(since);
  if (!reason.empty()) text += ": " + with_screen_times(reason, times);
  return text + "; " + text_in(item, "cure");
}

}  // namespace

void print_attention(const Node& attention, const ScreenTimes& times) {
  const auto in_need = static_cast<std::size_t>(number_in(attention, "jobsInNeed"));
  std::string label = "attention";
  if (in_need > 0) {
    print_field(std::exchange(label, ""), std::to_string(in_need) + " of " + text_in(attention, "jobs") + " jobs");
  }
  for (const Node& item : list_in(attention, "items")) {
    if (!is_told_by_status(item)) print_field(std::exchange(label, ""), item_text(item, times));
  }
  const std::int64_t more = number_in(attention, "more");
  if (more > 0) print_field(label, "and " + std::to_string(more) + " more");
}

std::string with_attention(std::string_view status, std::string_view attention) {
  const Result<Node> known = parse_json(status);
  const Result<Node> added = parse_json(attention);
  const auto* map = known ? known->as<Node::Map>() : nullptr;
  if (map == nullptr || !added) return std::string(status);
  Node::Map all = *map;
  all.push_back({"attention", {}, *added});
  return JsonWriter().node(Node(std::move(all))).take();
}

}  // namespace kron::cli
