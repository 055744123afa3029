#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kron::jobs {

// How a .kron line falls into words, values and modifiers; what they mean is others' business. Does not own the text.
class LineScanner {
 public:
  explicit LineScanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] bool at_blank() const { return !at_end() && (text_[at_] == ' ' || text_[at_] == '\t'); }
  [[nodiscard]] bool at_quote() const { return !at_end() && text_[at_] == '"'; }
  [[nodiscard]] bool at_field() const;     // word=
  [[nodiscard]] bool at_modifier() const;  // @word(

  void skip_blanks() {
    while (at_blank()) ++at_;
  }
  char take() { return text_[at_++]; }
  std::string_view take_key();       // the letters, digits, _ and - that stand here
  std::string_view take_to_blank();  // whatever stands here
  std::string_view take_schedule();  // all up to the first field or modifier, without the blanks around it

  // A run of characters up to where it stops; double quotes keep what would stop it, and are not part of the value.
  // False when a quote is left open; it stands at `opened()`.
  enum class Stop : std::uint8_t { blank = 1, argument_end = 2, modifier_end = 4 };
  bool take_value(Stop stop, std::string& value);
  bool pass_value(Stop stop);  // without taking it
  [[nodiscard]] std::size_t opened() const { return opened_; }

 private:
  [[nodiscard]] std::size_t key_end(std::size_t from) const;
  template <class See>
  bool walk_value(Stop stop, See see);
  template <class See>
  bool walk_quoted(See see);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t opened_ = 0;
};

}  // namespace kron::jobs
