#include "kron/json/run_usage.h"

#include <cmath>

namespace kron {
namespace {

constexpr double kMostSeconds = 1e12;  // more is no number of microseconds

void write_seconds(JsonWriter& out, std::string_view name, std::chrono::microseconds time) {
  out.key(name).real(std::chrono::duration<double>(time).count());
}

void write_bytes(JsonWriter& out, std::string_view name, std::uint64_t bytes) {
  if (bytes != 0) out.key(name).integer(static_cast<std::int64_t>(bytes));
}

bool read_seconds(Fields& fields, std::string_view name, std::chrono::microseconds& target) {
  const Node* node = fields.find(name);
  if (node == nullptr) return false;
  const auto* real = node->as<double>();
  const auto* whole = node->as<std::int64_t>();
  const double seconds = real != nullptr ? *real : whole != nullptr ? static_cast<double>(*whole) : -1;
  if (!(seconds >= 0 && seconds < kMostSeconds)) {
    fields.report(std::string(name), "expected a number of seconds");
    return false;
  }
  target = std::chrono::round<std::chrono::microseconds>(std::chrono::duration<double>(seconds));
  return true;
}

bool read_bytes(Fields& fields, std::string_view name, std::uint64_t& target) {
  const auto bytes = fields.integer(name);
  if (!bytes) return false;
  if (*bytes < 0) {
    fields.report(std::string(name), "expected a number of bytes");
    return false;
  }
  target = static_cast<std::uint64_t>(*bytes);
  return true;
}

}  // namespace

void write_usage(JsonWriter& out, const RunUsage& usage) {
  write_seconds(out, "cpuUserSeconds", usage.user);
  write_seconds(out, "cpuSystemSeconds", usage.system);
  write_bytes(out, "memoryBytes", usage.memory);
  write_bytes(out, "readBytes", usage.read);
  write_bytes(out, "writtenBytes", usage.written);
}

std::optional<RunUsage> read_usage(Fields& fields) {
  RunUsage usage;
  bool is_there = read_seconds(fields, "cpuUserSeconds", usage.user);
  is_there = read_seconds(fields, "cpuSystemSeconds", usage.system) || is_there;
  is_there = read_bytes(fields, "memoryBytes", usage.memory) || is_there;
  is_there = read_bytes(fields, "readBytes", usage.read) || is_there;
  is_there = read_bytes(fields, "writtenBytes", usage.written) || is_there;
  return is_there ? std::optional(usage) : std::nullopt;
}

}  // namespace kron
