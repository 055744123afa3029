#include "kron/queue/tar_header.h"

#include <algorithm>

namespace kron::tar {
namespace {

void put(std::array<char, kBlock>& block, Field field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), field.size),
              block.begin() + static_cast<std::ptrdiff_t>(field.offset));
}

// Leading zeros, and a NUL at the end.
void put_number(std::array<char, kBlock>& block, Field field, std::uint64_t number) {
  for (std::size_t at = field.offset + field.size - 1; at-- > field.offset; number /= 8) {
    block[at] = static_cast<char>('0' + number % 8);
  }
}

}  // namespace

std::optional<std::uint64_t> number_of(std::string_view bytes) {
  bytes.remove_prefix(std::min(bytes.find_first_not_of(' '), bytes.size()));
  const std::size_t digits = std::min(bytes.find_first_not_of("01234567"), bytes.size());
  if (digits == 0) return std::nullopt;
  std::uint64_t number = 0;
  for (const char digit : bytes.substr(0, digits)) number = number * 8 + static_cast<std::uint64_t>(digit - '0');
  const bool ends_well = std::ranges::all_of(bytes.substr(digits), [](char c) { return c == ' ' || c == '\0'; });
  return ends_well ? std::optional(number) : std::nullopt;
}

std::uint64_t sum_of(std::string_view block) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < block.size(); ++at) {
    const bool is_sum = at >= kSum.offset && at < kSum.offset + kSum.size;
    sum += is_sum ? ' ' : static_cast<unsigned char>(block[at]);
  }
  return sum;
}

std::array<char, kBlock> header_block(std::string_view name, char type, std::size_t size) {
  std::array<char, kBlock> block{};
  put(block, kName, name);
  put_number(block, kMode, 0644);
  put_number(block, kUser, 0);
  put_number(block, kGroup, 0);
  put_number(block, kSize, size);
  put_number(block, kTime, 0);
  block[kType.offset] = type;
  put(block, kMagic, kPosixMagic);
  // Six digits, a NUL and a blank, as it has always been.
  put_number(block, {kSum.offset, kSum.size - 1}, sum_of({block.data(), block.size()}));
  block[kSum.offset + kSum.size - 1] = ' ';
  return block;
}

}  // namespace kron::tar
