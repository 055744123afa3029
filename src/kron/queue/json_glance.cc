#include "kron/queue/json_glance.h"

#include <algorithm>
#include <vector>

#include "kron/base/text.h"

namespace kron {
namespace {

// All of these fit 64 bits, and a double.
constexpr std::size_t kSurelyWhole = 18;
constexpr std::size_t kSurelyReal = 200;
constexpr std::size_t kSurelyExponent = 2;
constexpr std::size_t kComparedEachWithEach = 16;  // keys of one map; more of them are sorted

// Each of its functions stands behind what it has taken for good, or returns false: unsure.
class JsonScan {
 public:
  JsonScan(std::string_view text, std::size_t most_depth) : text_(text), most_depth_(most_depth) {}

  JsonGlance whole() {
    skip_blanks();
    if (!value(0)) return JsonGlance::unsure;
    skip_blanks();
    if (at_ < text_.size() || (has_wide_ && !is_valid_utf8(text_))) return JsonGlance::unsure;
    return has_blanks_ ? JsonGlance::has_blanks : JsonGlance::compact;
  }

 private:
  // At the end a NUL, which is good nowhere.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    for (char c = next(); c == ' ' || c == '\n' || c == '\t' || c == '\r'; c = next()) {
      has_blanks_ = true;
      ++at_;
    }
  }

  bool value(std::size_t depth) {
    switch (next()) {
      case '"':
        return text();
      case '{':
        return depth < most_depth_ && map(depth + 1);
      case '[':
        return depth < most_depth_ && list(depth + 1);
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }

  std::size_t digits() {
    const std::size_t first = at_;
    while (next() >= '0' && next() <= '9') ++at_;
    return at_ - first;
  }

  bool number() {
    take('-');
    const bool begins_with_zero = next() == '0';
    const std::size_t before_point = digits();
    if (before_point == 0 || (begins_with_zero && before_point > 1)) return false;
    bool is_whole = true;
    if (take('.')) {
      is_whole = false;
      if (digits() == 0) return false;
    }
    if (take('e') || take('E')) {
      is_whole = false;
      if (!take('-')) take('+');
      const std::size_t exponent = digits();
      if (exponent == 0 || exponent > kSurelyExponent) return false;
    }
    return before_point <= (is_whole ? kSurelyWhole : kSurelyReal);
  }

  // From quote to quote.
  bool text() {
    for (++at_; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return false;
      if (c == '\\' && !escape()) return false;
      has_wide_ = has_wide_ || c >= 0x80;
    }
    return false;
  }

  // Behind it `at_` is on its last character.
  bool escape() {
    ++at_;
    if (next() != 'u') return next() != '\0' && std::string_view("\"\\/bfnrt").find(next()) != std::string_view::npos;
    const std::string_view hex = text_.substr(at_ + 1, 4);
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'f'); };
    if (hex.size() < 4 || !std::ranges::all_of(hex, is_hex)) return false;
    at_ += 4;
    const bool is_surrogate = lower(hex[0]) == 'd' && hex[1] >= '8';  // letters are behind digits
    return !is_surrogate;
  }

  bool list(std::size_t depth) {
    ++at_;
    skip_blanks();
    if (take(']')) return true;
    while (true) {
      if (!value(depth)) return false;
      skip_blanks();
      if (take(']')) return true;
      if (!take(',')) return false;
      skip_blanks();
    }
  }

  bool map(std::size_t depth) {
    ++at_;
    skip_blanks();
    if (take('}')) return true;
    const std::size_t first_key = keys_.size();
    while (true) {
      if (!key()) return false;
      skip_blanks();
      if (!take(':')) return false;
      skip_blanks();
      if (!value(depth)) return false;
      skip_blanks();
      if (take('}')) return has_each_key_once(first_key);
      if (!take(',')) return false;
      skip_blanks();
    }
  }

  // Two spellings of one key are seen by whoever resolves escapes.
  bool key() {
    if (next() != '"') return false;
    const std::size_t first = at_;
    if (!text()) return false;
    keys_.push_back(text_.substr(first, at_ - first));
    return keys_.back().find('\\') == std::string_view::npos;
  }

  // Of the map that ends here; those that are open around it have theirs before `first`.
  bool has_each_key_once(std::size_t first) {
    const auto begin = keys_.begin() + static_cast<std::ptrdiff_t>(first);
    bool is_once = true;
    if (keys_.size() - first > kComparedEachWithEach) {
      std::sort(begin, keys_.end());
      is_once = std::adjacent_find(begin, keys_.end()) == keys_.end();
    } else {
      for (auto one = begin; is_once && one != keys_.end(); ++one) is_once = std::find(begin, one, *one) == one;
    }
    keys_.resize(first);
    return is_once;
  }

  std::string_view text_;
  std::size_t most_depth_;
  std::size_t at_ = 0;
  bool has_blanks_ = false;
  bool has_wide_ = false;                    // bytes that are not ASCII, within texts
  std::vector<std::string_view> keys_ = {};  // of all maps that are open, with their quotes
};

}  // namespace

JsonGlance glance_at_json(std::string_view text, std::size_t most_depth) { return JsonScan(text, most_depth).whole(); }

}  // namespace kron
