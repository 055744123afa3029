#include "kron/api/attribution.h"

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "kron/core/state.h"
#include "kron/env/local_users.h"

namespace kron::api {

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t ahead) {
      return i + ahead < text.size() ? static_cast<unsigned char>(text[i + ahead]) : 0U;
    };
    if (byte(0) < 0x20 || byte(0) == 0x7F) return true;
    if (byte(0) == 0xC2 && byte(1) < 0xA0) return true;                                         // U+0080 to U+009F
    if (byte(0) == 0xE2 && byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) return true;  // U+2028 to U+202E
    if (byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9) return true;  // U+2066 to U+2069
  }
  return false;
}

Status check_note(std::string_view note) {
  if (note.size() > kMostNoteBytes) {
    return fail(Code::invalid,
                "has " + std::to_string(note.size()) + " bytes; " + std::to_string(kMostNoteBytes) + " are the most");
  }
  if (has_control(note)) return fail(Code::invalid, "has a control character; it is one line of plain text");
  return {};
}

std::string note_in(Fields& fields) {
  const auto note = fields.text("note");
  if (!note) return {};
  if (const Status is_good = check_note(*note); !is_good) {
    fields.report("note", is_good.error().message);
    return {};
  }
  return std::string(*note);
}

std::string asker_name(const http::Principal& principal) {
  constexpr std::string_view kUser = "uid ";
  const std::string_view name = principal.name;
  if (!name.starts_with(kUser)) return principal.name;
  uid_t user = 0;
  const auto [end, error] = std::from_chars(name.data() + kUser.size(), name.data() + name.size(), user);
  if (error != std::errc() || end != name.data() + name.size()) return principal.name;
  return local_user_name(user).value_or(principal.name);
}

Result<Attribution> attribution_of(const http::Request& request) {
  const auto document = object_in(request.body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(std::array<std::string_view, 1>{"note"});
  Attribution from{.note = note_in(fields)};
  if (!errors.empty()) return fail(errors.front());
  from.by = asker_name(request.principal);
  return from;
}

}  // namespace kron::api
