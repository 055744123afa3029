#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kron/env/fake/fake_redis_commands.h"

namespace kron::testing::fake_redis {
namespace {

struct AddOptions {
  bool only_new = false;
  bool only_old = false;
  bool only_greater = false;
  bool only_less = false;
  bool counts_changed = false;
  bool increments = false;
  std::size_t used = 0;
};

AddOptions add_options(std::span<const std::string> args) {
  AddOptions options;
  for (; options.used < args.size(); ++options.used) {
    const std::string word = in_capitals(args[options.used]);
    if (word == "NX")
      options.only_new = true;
    else if (word == "XX")
      options.only_old = true;
    else if (word == "GT")
      options.only_greater = true;
    else if (word == "LT")
      options.only_less = true;
    else if (word == "CH")
      options.counts_changed = true;
    else if (word == "INCR")
      options.increments = true;
    else
      break;
  }
  return options;
}

std::optional<RedisValue> refusal_of(const AddOptions& options, std::size_t rest) {
  if (rest == 0 || rest % 2 != 0) return syntax_error();
  if (options.only_new && options.only_old) {
    return error("ERR XX and NX options at the same time are not compatible");
  }
  if ((options.only_greater && options.only_new) || (options.only_less && options.only_new) ||
      (options.only_greater && options.only_less)) {
    return error("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
  if (options.increments && rest > 2) return error("ERR INCR option supports a single increment-element pair");
  return std::nullopt;
}

enum class Added : std::uint8_t { nothing, same, changed, is_new, not_a_number };

Added add(SortedSet& set, const AddOptions& options, const std::string& member, double& score) {
  const std::optional<double> present = set.score(member);
  if (!present) {
    if (options.only_old) return Added::nothing;
    set.put(member, score);
    return Added::is_new;
  }
  if (options.only_new) return Added::nothing;
  if (options.increments) {
    score += *present;
    if (std::isnan(score)) return Added::not_a_number;
  }
  if ((options.only_less && score >= *present) || (options.only_greater && score <= *present)) return Added::nothing;
  if (score == *present) return Added::same;
  set.put(member, score);
  return Added::changed;
}

RedisValue add_scored(Call& call, const AddOptions& options, std::span<const std::string> pairs) {
  if (const auto refusal = refusal_of(options, pairs.size())) return *refusal;
  std::vector<double> scores;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const std::optional<double> score = number_in(pairs[i]);
    if (!score) return error("ERR value is not a valid float");
    scores.push_back(*score);
  }
  const auto present = held<SortedSet>(call, call.args[1]);
  if (present.is_wrong_type) return wrong_type();
  if (present.value == nullptr && options.only_old) return options.increments ? nil() : integer(0);
  SortedSet& set = made<SortedSet>(call, call.args[1]);
  std::int64_t is_new = 0;
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const Added added = add(set, options, pairs[2 * i + 1], scores[i]);
    if (added == Added::not_a_number) return error("ERR resulting score is not a number (NaN)");
    if (added == Added::is_new) is_new += 1;
    if (added == Added::changed) changed += 1;
    if (added == Added::is_new || added == Added::changed) call.changed();
    if (options.increments) return added == Added::nothing ? nil() : bulk(scores[i]);
  }
  return integer(options.counts_changed ? is_new + changed : is_new);
}

RedisValue add_scores(Call& call) {
  const AddOptions options = add_options(call.args.subspan(2));
  return add_scored(call, options, call.args.subspan(2 + options.used));
}

RedisValue increment_score(Call& call) {
  AddOptions options;
  options.increments = true;
  return add_scored(call, options, call.args.subspan(2));
}

RedisValue remove_scored(Call& call) {
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  if (set.value == nullptr) return integer(0);
  std::size_t removed = 0;
  for (const std::string& member : call.args.subspan(2)) removed += set.value->erase(member) ? 1 : 0;
  if (removed > 0) call.changed();
  drop_if_empty(call, call.args[1]);
  return count(removed);
}

RedisValue score_of(const SortedSet* set, const std::string& member) {
  const std::optional<double> score = set == nullptr ? std::nullopt : set->score(member);
  return score ? bulk(*score) : nil();
}

RedisValue get_score(Call& call) {
  const auto set = held<SortedSet>(call, call.args[1]);
  return set.is_wrong_type ? wrong_type() : score_of(set.value, call.args[2]);
}

RedisValue get_scores(Call& call) {
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  std::vector<RedisValue> scores;
  for (const std::string& member : call.args.subspan(2)) scores.push_back(score_of(set.value, member));
  return array(std::move(scores));
}

RedisValue count_scored(Call& call) {
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  return count(set.value == nullptr ? 0 : set.value->size());
}

RedisValue rank_of(Call& call, bool from_the_end) {
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  const std::optional<double> score = set.value == nullptr ? std::nullopt : set.value->score(call.args[2]);
  if (!score) return nil();
  const auto rank = std::distance(set.value->order().begin(), set.value->order().find({*score, call.args[2]}));
  return integer(from_the_end ? static_cast<std::int64_t>(set.value->size()) - 1 - rank : rank);
}

RedisValue get_rank(Call& call) { return rank_of(call, false); }
RedisValue get_rank_from_the_end(Call& call) { return rank_of(call, true); }

enum class By : std::uint8_t { rank, score, text };

// One end of a range of scores or texts.
struct End {
  double score = 0;
  std::string text = {};
  int infinite = 0;  // of texts: -1 before all, 1 behind all
  bool is_open = false;
};

// Redis lets strtod read it, which takes an empty text for 0.
std::optional<End> score_end(const std::string& text) {
  End end;
  end.is_open = !text.empty() && text[0] == '(';
  const char* const begin = text.c_str() + (end.is_open ? 1 : 0);
  char* behind = nullptr;
  end.score = std::strtod(begin, &behind);
  if (*behind != '\0' || std::isnan(end.score)) return std::nullopt;
  return end;
}

std::optional<End> text_end(const std::string& text) {
  if (text == "-") return End{.infinite = -1};
  if (text == "+") return End{.infinite = 1};
  if (text.empty() || (text[0] != '(' && text[0] != '[')) return std::nullopt;
  return End{.text = text.substr(1), .is_open = text[0] == '('};
}

struct Ends {
  By by = By::rank;
  std::int64_t start = 0;
  std::int64_t stop = 0;
  End least = {};
  End greatest = {};
  std::optional<RedisValue> refusal = {};
};

Ends ends_of(By by, const std::string& least, const std::string& greatest) {
  Ends ends{.by = by};
  if (by == By::rank) {
    const std::optional<std::int64_t> start = integer_in(least);
    const std::optional<std::int64_t> stop = integer_in(greatest);
    if (!start || !stop)
      ends.refusal = not_an_integer();
    else
      ends.start = *start, ends.stop = *stop;
    return ends;
  }
  const auto low = by == By::score ? score_end(least) : text_end(least);
  const auto high = by == By::score ? score_end(greatest) : text_end(greatest);
  if (!low || !high) {
    ends.refusal =
        error(by == By::score ? "ERR min or max is not a float" : "ERR min or max not valid string range item");
    return ends;
  }
  ends.least = *low;
  ends.greatest = *high;
  return ends;
}

bool is_not_below(const Ends& ends, const std::pair<double, std::string>& item) {
  const End& least = ends.least;
  if (ends.by == By::score) return least.is_open ? item.first > least.score : item.first >= least.score;
  if (least.infinite != 0) return least.infinite < 0;
  return least.is_open ? item.second > least.text : item.second >= least.text;
}

bool is_not_above(const Ends& ends, const std::pair<double, std::string>& item) {
  const End& greatest = ends.greatest;
  if (ends.by == By::score) return greatest.is_open ? item.first < greatest.score : item.first <= greatest.score;
  if (greatest.infinite != 0) return greatest.infinite > 0;
  return greatest.is_open ? item.second < greatest.text : item.second <= greatest.text;
}

using Range = std::pair<SortedSet::Order::const_iterator, SortedSet::Order::const_iterator>;

Range range_of(const SortedSet& set, const Ends& ends, bool backward) {
  const SortedSet::Order& order = set.order();
  if (ends.by == By::rank) {
    const auto found = ranks(ends.start, ends.stop, set.size());
    if (!found) return {order.end(), order.end()};
    if (backward) return {set.at(set.size() - 1 - found->second), set.at(set.size() - found->first)};
    return {set.at(found->first), set.at(found->second + 1)};
  }
  auto first = order.begin();
  if (ends.by == By::score) first = order.lower_bound({ends.least.score, std::string()});
  while (first != order.end() && !is_not_below(ends, *first)) ++first;
  auto last = first;
  while (last != order.end() && is_not_above(ends, *last)) ++last;
  return {first, last};
}

struct RangeOptions {
  By by = By::rank;
  bool backward = false;
  bool with_scores = false;
  std::int64_t skipped = 0;
  std::int64_t most = -1;
};

template <class Iterator>
std::vector<RedisValue> listed(Iterator first, Iterator last, const RangeOptions& options) {
  std::vector<RedisValue> items;
  if (options.skipped < 0) return items;
  std::int64_t at = 0;
  for (; first != last; ++first, ++at) {
    if (at < options.skipped) continue;
    if (options.most >= 0 && at - options.skipped >= options.most) break;
    items.push_back(bulk(first->second));
    if (options.with_scores) items.push_back(bulk(first->first));
  }
  return items;
}

RedisValue range(Call& call, const RangeOptions& options) {
  const bool is_swapped = options.backward && options.by != By::rank;
  const Ends ends = ends_of(options.by, call.args[is_swapped ? 3 : 2], call.args[is_swapped ? 2 : 3]);
  if (ends.refusal) return *ends.refusal;
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  if (set.value == nullptr) return array();
  const Range found = range_of(*set.value, ends, options.backward);
  if (options.backward) {
    return array(listed(std::make_reverse_iterator(found.second), std::make_reverse_iterator(found.first), options));
  }
  return array(listed(found.first, found.second, options));
}

// WITHSCORES and LIMIT, and for ZRANGE itself what it ranges by.
RedisValue range_with_options(Call& call, RangeOptions options, bool is_general) {
  bool has_limit = false;
  for (std::size_t i = 4; i < call.args.size(); ++i) {
    const std::string word = in_capitals(call.args[i]);
    if (word == "WITHSCORES") {
      options.with_scores = true;
    } else if (word == "LIMIT" && i + 2 < call.args.size()) {
      const std::optional<std::int64_t> skipped = integer_in(call.args[i + 1]);
      const std::optional<std::int64_t> most = integer_in(call.args[i + 2]);
      if (!skipped || !most) return not_an_integer();
      options.skipped = *skipped;
      options.most = *most;
      has_limit = true;
      i += 2;
    } else if (is_general && word == "REV") {
      options.backward = true;
    } else if (is_general && word == "BYSCORE") {
      options.by = By::score;
    } else if (is_general && word == "BYLEX") {
      options.by = By::text;
    } else {
      return syntax_error();
    }
  }
  if (has_limit && options.most != -1 && options.by == By::rank) {
    return error("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
  }
  if (options.with_scores && options.by == By::text) {
    return error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  return range(call, options);
}

RedisValue range_any(Call& call) { return range_with_options(call, {}, true); }
RedisValue range_backward(Call& call) { return range_with_options(call, {.backward = true}, false); }
RedisValue range_by_score(Call& call) { return range_with_options(call, {.by = By::score}, false); }
RedisValue range_by_text(Call& call) { return range_with_options(call, {.by = By::text}, false); }
RedisValue range_by_score_backward(Call& call) {
  return range_with_options(call, {.by = By::score, .backward = true}, false);
}

RedisValue remove_range(Call& call, By by) {
  const Ends ends = ends_of(by, call.args[2], call.args[3]);
  if (ends.refusal) return *ends.refusal;
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  if (set.value == nullptr) return integer(0);
  const Range found = range_of(*set.value, ends, false);
  std::vector<std::string> members;
  for (auto item = found.first; item != found.second; ++item) members.push_back(item->second);
  for (const std::string& member : members) set.value->erase(member);
  if (!members.empty()) call.changed();
  drop_if_empty(call, call.args[1]);
  return count(members.size());
}

RedisValue remove_by_rank(Call& call) { return remove_range(call, By::rank); }
RedisValue remove_by_score(Call& call) { return remove_range(call, By::score); }
RedisValue remove_by_text(Call& call) { return remove_range(call, By::text); }

RedisValue count_in_range(Call& call) {
  const Ends ends = ends_of(By::score, call.args[2], call.args[3]);
  if (ends.refusal) return *ends.refusal;
  const auto set = held<SortedSet>(call, call.args[1]);
  if (set.is_wrong_type) return wrong_type();
  if (set.value == nullptr) return integer(0);
  const Range found = range_of(*set.value, ends, false);
  return integer(std::distance(found.first, found.second));
}

// A small one comes at once, whatever was asked for.
bool is_compact_order(const SortedSet& set) {
  return set.size() <= 128 && std::all_of(set.order().begin(), set.order().end(),
                                          [](const auto& member) { return member.second.size() <= 64; });
}

void tell_scored(const SortedSet::Order::value_type& member, std::vector<RedisValue>& items) {
  items.push_back(bulk(member.second));
  items.push_back(bulk(member.first));
}

RedisValue scan_sorted_set(Call& call) { return scan_value(call, is_compact_order, tell_scored); }

constexpr unsigned kSortedSetGrows = kWrites | kDeniedWhenFull;

constexpr Command kSortedSetCommands[] = {
    {"ZADD", -4, kSortedSetGrows, add_scores},
    {"ZINCRBY", 4, kSortedSetGrows, increment_score},
    {"ZREM", -3, kWrites, remove_scored},
    {"ZSCORE", 3, kReads, get_score},
    {"ZMSCORE", -3, kReads, get_scores},
    {"ZCARD", 2, kReads, count_scored},
    {"ZRANK", 3, kReads, get_rank},
    {"ZREVRANK", 3, kReads, get_rank_from_the_end},
    {"ZRANGE", -4, kReads, range_any},
    {"ZREVRANGE", -4, kReads, range_backward},
    {"ZRANGEBYSCORE", -4, kReads, range_by_score},
    {"ZREVRANGEBYSCORE", -4, kReads, range_by_score_backward},
    {"ZRANGEBYLEX", -4, kReads, range_by_text},
    {"ZREMRANGEBYRANK", 4, kWrites, remove_by_rank},
    {"ZREMRANGEBYSCORE", 4, kWrites, remove_by_score},
    {"ZREMRANGEBYLEX", 4, kWrites, remove_by_text},
    {"ZCOUNT", 4, kReads, count_in_range},
    {"ZSCAN", -3, kReads, scan_sorted_set},
};

}  // namespace

std::span<const Command> sorted_set_commands() { return kSortedSetCommands; }

}  // namespace kron::testing::fake_redis
