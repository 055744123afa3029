#include "kron/cluster/signature.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <vector>

#include "kron/json/writer.h"

namespace kron::cluster {
namespace {

constexpr auto kSigned = std::to_array<std::string_view>({"cron_args", "job_args", "kron"});  // in order
constexpr std::string_view kSignature = "kron_sig";
constexpr std::size_t kLargestKey = 4'096;

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kShort = "\"\\\n\r\t\f\b";
  constexpr std::string_view kLetters = "\"\\nrtfb";
  out += '"';
  for (const char c : text) {
    if (const std::size_t at = kShort.find(c); at != std::string_view::npos) {
      (out += '\\') += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      ((out += "\\u00") += kDigits[static_cast<unsigned char>(c) >> 4]) += kDigits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// The fewest digits that read back the same; 1e+16 and up, and below 1e-04, with an exponent of at least two digits;
// a whole number with .0.
std::string real_text(double value) {
  std::array<char, 40> buffer{};
  const double size = std::fabs(value);
  const bool is_scientific = value != 0 && (size >= 1e16 || size < 1e-4);
  const auto form = is_scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, form);
  std::string text(buffer.data(), end.ptr);
  if (!is_scientific && text.find('.') == std::string::npos) text += ".0";
  return text;
}

void append(std::string& out, const Node& node);

void append_list(std::string& out, const Node::List& list) {
  out += '[';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out += ',';
    append(out, list[i]);
  }
  out += ']';
}

void append_map(std::string& out, const Node::Map& map) {
  std::vector<const Node::Member*> members;
  members.reserve(map.size());
  for (const Node::Member& member : map) members.push_back(&member);
  std::ranges::sort(members, {}, [](const Node::Member* member) -> std::string_view { return member->key; });
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i != 0) out += ',';
    append_escaped(out, members[i]->key);
    out += ':';
    append(out, members[i]->value);
  }
  out += '}';
}

// The depth is that of the document, which its reader has limited.
void append(std::string& out, const Node& node) {
  if (node.is_null()) out += "null";
  if (const auto* flag = node.as<bool>()) out += *flag ? "true" : "false";
  if (const auto* whole = node.as<std::int64_t>()) out += std::to_string(*whole);
  if (const auto* real = node.as<double>()) out += real_text(*real);
  if (const auto* text = node.as<std::string>()) append_escaped(out, *text);
  if (const auto* list = node.as<Node::List>()) append_list(out, *list);
  if (const auto* map = node.as<Node::Map>()) append_map(out, *map);
}

bool is_equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

tl::unexpected<Error> refused(std::string message) {
  return fail(Code::refused, std::move(message), std::string(kSignature));
}

}  // namespace

std::string canonical_definition(const Node& definition) {
  std::string out = "{";
  for (const std::string_view key : kSigned) {
    const Node* part = definition.find(key);
    if (part == nullptr) continue;
    if (out.size() > 1) out += ',';
    append_escaped(out, key);
    out += ':';
    append(out, *part);
  }
  return out += '}';
}

Result<SigningKey> SigningKey::read(FileSystem& file_system, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash + 1 == path.size()) {
    return fail(Code::invalid, path + ": the key's file must be given by an absolute path");
  }
  const Result<std::unique_ptr<Directory>> directory =
      file_system.open_directory(slash == 0 ? "/" : path.substr(0, slash));
  if (!directory) return fail(directory.error());
  Result<FileContents> file = (*directory)->read(path.substr(slash + 1), kLargestKey);
  if (!file) return fail(file.error());
  constexpr mode_t kOthers = 077;
  if ((file->info.mode & kOthers) != 0) {
    return fail(Code::refused, path + ": others can read or write this key; chmod 600 it");
  }
  if (file->info.owner != 0 && file->info.owner != file_system.user()) {
    return fail(Code::refused, path + ": this key belongs to another user; chown it");
  }
  std::string& bytes = file->bytes;
  if (bytes.ends_with('\n')) bytes.pop_back();
  if (bytes.ends_with('\r')) bytes.pop_back();
  if (bytes.size() < kFewestBytes) {
    return fail(Code::invalid, path + ": a key of " + std::to_string(bytes.size()) + " bytes is too short; " +
                                   "make one with: openssl rand -hex 32");
  }
  return SigningKey(std::move(bytes));
}

std::string SigningKey::sign(std::string_view name_space, std::string_view name, const Node& definition) const {
  const std::string message =
      std::string(name_space) + "\n" + std::string(name) + "\n" + canonical_definition(definition);
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()),
         reinterpret_cast<const unsigned char*>(message.data()), message.size(), code.data(), &size);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) (text += kDigits[code[i] >> 4]) += kDigits[code[i] & 15];
  return text;
}

Status check_signature(const SignatureRules& rules, std::string_view name_space, std::string_view name,
                       const Node& definition) {
  const Node* given = definition.find(kSignature);
  if (given == nullptr || given->is_null()) {
    if (!rules.is_required) return {};
    return refused("the definition is not signed, and this host runs signed jobs only; sign it with kron cluster sign");
  }
  if (!rules.key) {
    if (!rules.is_required) return {};
    return refused("this host runs signed jobs only and has no key to check them by; give krond --jobs-hmac-key");
  }
  const auto* text = given->as<std::string>();
  if (text != nullptr && is_equal_in_constant_time(*text, rules.key->sign(name_space, name, definition))) return {};
  return refused("the signature does not fit: the definition was changed, renamed or signed with another key");
}

}  // namespace kron::cluster
