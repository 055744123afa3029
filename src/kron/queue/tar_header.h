#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

// The 512 bytes in front of each entry of a tar archive, for tar.cc.
namespace kron::tar {

inline constexpr std::size_t kBlock = 512;

struct Field {
  std::size_t offset;
  std::size_t size;
};
inline constexpr Field kName{0, 100};
inline constexpr Field kMode{100, 8};
inline constexpr Field kUser{108, 8};
inline constexpr Field kGroup{116, 8};
inline constexpr Field kSize{124, 12};
inline constexpr Field kTime{136, 12};
inline constexpr Field kSum{148, 8};
inline constexpr Field kType{156, 1};
inline constexpr Field kMagic{257, 8};  // with the version
inline constexpr Field kPrefix{345, 155};

inline constexpr std::string_view kPosixMagic{"ustar\00000", 8};
inline constexpr std::string_view kGnuMagic{"ustar  \0", 8};

inline constexpr char kRegular = '0';
inline constexpr char kOldRegular = '\0';
inline constexpr char kDirectory = '5';
inline constexpr char kRecords = 'x';        // pax: for the next entry
inline constexpr char kGlobalRecords = 'g';  // pax: for all that follow
inline constexpr char kLongName = 'L';       // GNU: the name of the next entry

inline std::string_view bytes_of(std::string_view block, Field field) { return block.substr(field.offset, field.size); }

// Up to the first NUL.
inline std::string_view text_of(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

// Digits of base 8 between blanks, ended by a blank, a NUL or the field; nothing when it is not that.
std::optional<std::uint64_t> number_of(std::string_view bytes);

// What the field kSum of the block should say.
std::uint64_t sum_of(std::string_view block);

// A whole header with its sum. `name` is cut to what fits.
std::array<char, kBlock> header_block(std::string_view name, char type, std::size_t size);

}  // namespace kron::tar
