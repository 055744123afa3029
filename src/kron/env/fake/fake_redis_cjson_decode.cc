#include <algorithm>
#include <array>
#include <cstdlib>
#include <lua.hpp>
#include <strings.h>

#include "kron/env/fake/fake_redis_cjson.h"
#include "kron/env/fake/fake_redis_lua_values.h"

namespace kron::testing::fake_redis {
namespace {

enum class Token : std::uint8_t {
  object_begin,
  object_end,
  array_begin,
  array_end,
  text,
  number,
  truth,
  null,
  colon,
  comma,
  end,
  error
};

std::string_view name_of(Token token) {
  constexpr std::array<std::string_view, 12> kNames{"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN", "T_ARR_END",
                                                    "T_STRING",    "T_NUMBER",  "T_BOOLEAN",   "T_NULL",
                                                    "T_COLON",     "T_COMMA",   "T_END",       "T_ERROR"};
  return kNames.at(static_cast<std::size_t>(token));
}

class JsonReader {
 public:
  JsonReader(lua_State* lua, std::string_view text) : lua_(lua), text_(text) {}

  bool read() {
    next();
    if (!read_value(0)) return false;
    next();
    return token_ == Token::end || refuse_token("the end");
  }

 private:
  bool refuse_token(std::string_view expected) {
    const std::string_view found = token_ == Token::error ? problem_ : name_of(token_);
    return refuse(lua_, "Expected " + std::string(expected) + " but found " + std::string(found) + " at character " +
                            std::to_string(token_at_ + 1));
  }

  void fail_token(std::string_view problem, std::size_t at) {
    token_ = Token::error;
    problem_ = problem;
    token_at_ = at;
  }

  bool takes(std::string_view word, Token token) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    token_ = token;
    return true;
  }

  void next() {
    at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size());
    token_at_ = at_;
    if (at_ == text_.size()) {
      token_ = Token::end;
      return;
    }
    constexpr std::string_view kSigns = "{}[]:,";
    constexpr std::array<Token, 6> kSignTokens{Token::object_begin, Token::object_end, Token::array_begin,
                                               Token::array_end,    Token::colon,      Token::comma};
    if (const std::size_t sign = kSigns.find(text_[at_]); sign != std::string_view::npos) {
      token_ = kSignTokens.at(sign);
      ++at_;
    } else if (text_[at_] == '"') {
      read_text();
    } else if (text_[at_] == 't' && takes("true", Token::truth)) {
      truth_ = true;
    } else if (text_[at_] == 'f' && takes("false", Token::truth)) {
      truth_ = false;
    } else if (text_[at_] != 'n' || !takes("null", Token::null)) {
      read_number();
    }
  }

  void read_number() {
    const std::string rest(text_.substr(at_, 64));
    const bool is_word = ::strncasecmp(rest.c_str(), "inf", 3) == 0 || ::strncasecmp(rest.c_str(), "nan", 3) == 0;
    if (!is_word && rest[0] != '-' && rest[0] != '+' && (rest[0] < '0' || rest[0] > '9'))
      return fail_token("invalid token", at_);
    char* end = nullptr;
    number_ = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) return fail_token("invalid number", at_);
    at_ += static_cast<std::size_t>(end - rest.c_str());
    token_ = Token::number;
  }

  void read_text() {
    const std::size_t begin = at_++;
    string_.clear();
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        string_ += text_[at_++];
      } else if (!read_escape()) {
        return;
      }
    }
    if (at_ == text_.size()) return fail_token("unexpected end of string", at_);
    ++at_;
    token_ = Token::text;
    token_at_ = begin;
  }

  static constexpr unsigned kNoCode = 0x110000;

  [[nodiscard]] unsigned hex_at(std::size_t at) const {
    if (at + 4 > text_.size()) return kNoCode;
    unsigned code = 0;
    for (const char letter : text_.substr(at, 4)) {
      code *= 16;
      if (letter >= '0' && letter <= '9') {
        code += static_cast<unsigned>(letter - '0');
      } else if (letter >= 'a' && letter <= 'f') {
        code += static_cast<unsigned>(letter - 'a' + 10);
      } else if (letter >= 'A' && letter <= 'F') {
        code += static_cast<unsigned>(letter - 'A' + 10);
      } else {
        return kNoCode;
      }
    }
    return code;
  }

  // The character behind "\u"; two of them may be one.
  unsigned code_at(std::size_t begin) {
    const unsigned code = hex_at(begin + 2);
    at_ = begin + 6;
    if (code >= 0xDC00 && code < 0xE000) return kNoCode;
    if (code < 0xD800 || code >= 0xDC00) return code;
    const unsigned low = text_.substr(at_, 2) == "\\u" ? hex_at(at_ + 2) : kNoCode;
    at_ += 6;
    if (low < 0xDC00 || low >= 0xE000) return kNoCode;
    return 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }

  bool read_escape() {
    const std::size_t begin = at_;
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = begin + 1 < text_.size() ? text_[begin + 1] : '\0';
    if (const std::size_t known = kLetters.find(letter); letter != '\0' && known != std::string_view::npos) {
      string_ += kMeanings[known];
      at_ += 2;
      return true;
    }
    if (letter != 'u') {
      fail_token("invalid escape code", begin);
      return false;
    }
    const unsigned code = code_at(begin);
    if (code == kNoCode) {
      fail_token("invalid unicode escape code", begin);
      return false;
    }
    append_utf8(code);
    return true;
  }

  void append_utf8(unsigned code) {
    const auto add = [&](unsigned byte) { string_ += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xC0 | (code >> 6U));
      add(0x80 | (code & 0x3FU));
    } else if (code < 0x10000) {
      add(0xE0 | (code >> 12U));
      add(0x80 | ((code >> 6U) & 0x3FU));
      add(0x80 | (code & 0x3FU));
    } else {
      add(0xF0 | (code >> 18U));
      add(0x80 | ((code >> 12U) & 0x3FU));
      add(0x80 | ((code >> 6U) & 0x3FU));
      add(0x80 | (code & 0x3FU));
    }
  }

  bool goes_deeper(int depth) {
    if (depth <= kDeepestJson && lua_checkstack(lua_, 4) != 0) return true;
    return refuse(lua_, "Found too many nested data structures (" + std::to_string(depth) + ") at character " +
                            std::to_string(at_));
  }

  // Pushes what the present token begins.
  bool read_value(int depth) {
    switch (token_) {
      case Token::text:
        lua_pushlstring(lua_, string_.data(), string_.size());
        return true;
      case Token::number:
        lua_pushnumber(lua_, number_);
        return true;
      case Token::truth:
        lua_pushboolean(lua_, truth_ ? 1 : 0);
        return true;
      case Token::null:
        lua_pushlightuserdata(lua_, nullptr);
        return true;
      case Token::object_begin:
        return goes_deeper(depth + 1) && read_object(depth + 1);
      case Token::array_begin:
        return goes_deeper(depth + 1) && read_array(depth + 1);
      default:
        return refuse_token("value");
    }
  }

  bool read_object(int depth) {
    lua_newtable(lua_);
    next();
    if (token_ == Token::object_end) return true;
    for (;; next()) {
      if (token_ != Token::text) return refuse_token("object key string");
      lua_pushlstring(lua_, string_.data(), string_.size());
      next();
      if (token_ != Token::colon) return refuse_token("colon");
      next();
      if (!read_value(depth)) return false;
      lua_rawset(lua_, -3);
      next();
      if (token_ == Token::object_end) return true;
      if (token_ != Token::comma) return refuse_token("comma or object end");
    }
  }

  bool read_array(int depth) {
    lua_newtable(lua_);
    next();
    if (token_ == Token::array_end) return true;
    for (int i = 1;; ++i, next()) {
      if (!read_value(depth)) return false;
      lua_rawseti(lua_, -2, i);
      next();
      if (token_ == Token::array_end) return true;
      if (token_ != Token::comma) return refuse_token("comma or array end");
    }
  }

  lua_State* lua_;
  std::string_view text_;
  std::size_t at_ = 0;
  Token token_ = Token::end;
  std::size_t token_at_ = 0;
  std::string_view problem_;
  std::string string_;
  double number_ = 0;
  bool truth_ = false;
};

}  // namespace

bool decoded(lua_State* lua) {
  // A copy: the stack is emptied when there is a problem to tell.
  const std::string text = lua_text(lua, 1);
  return JsonReader(lua, text).read();
}

}  // namespace kron::testing::fake_redis
