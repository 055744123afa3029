#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// How an access token is spelled: kron_<8 base32 id>_<43 base62 secret><6 base62 CRC-32 of all before it>. The prefix
// and the checksum make one that has leaked findable by anybody, and one that was mistyped known as none before it is
// looked up.
namespace kron {

inline constexpr std::string_view kTokenPrefix = "kron_";
inline constexpr std::size_t kTokenIdSize = 8;
inline constexpr std::size_t kTokenSize = 63;

using TokenIdBytes = std::array<std::uint8_t, 5>;
using TokenSecretBytes = std::array<std::uint8_t, 32>;

std::string token_text(const TokenIdBytes& id, const TokenSecretBytes& secret);

// The id in a token, which is no secret; a view into the text. Nothing: this is no token, whoever knows it.
std::optional<std::string_view> token_id_in(std::string_view text);

bool is_token_id(std::string_view text);

}  // namespace kron
