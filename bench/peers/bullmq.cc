#include "bullmq.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "kron/json/document.h"

namespace kron::bench {
namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Standard output of a command line for the shell; nothing: it ended badly.
std::optional<std::string> output_of(const std::string& line) {
  FILE* const pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> chunk{};
  for (std::size_t size = 0; (size = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) {
    text.append(chunk.data(), size);
  }
  if (::pclose(pipe) != 0) return std::nullopt;
  return text;
}

double number_in(const Node& map, std::string_view name) {
  const Node* const found = map.find(name);
  if (found == nullptr) return 0;
  if (const auto* whole = found->as<std::int64_t>()) return static_cast<double>(*whole);
  const auto* real = found->as<double>();
  return real != nullptr ? *real : 0;
}

std::string package_directory() { return std::string(KRON_NPM) + "/node_modules/bullmq"; }

}  // namespace

std::string bullmq_version() {
  const auto package = parse_json(text_of_file(package_directory() + "/package.json"));
  const Node* const version = package ? package->find("version") : nullptr;
  const auto* text = version != nullptr ? version->as<std::string>() : nullptr;
  return text != nullptr ? *text : "";
}

Result<BullMqRates> bullmq_rates(int port, const BullMqCounts& counts, const std::string& data) {
  if (bullmq_version().empty()) {
    return fail(Code::not_found, "BullMQ is not below build/npm; where npm is, scripts/deps bench puts it there");
  }
  if (!output_of("node --version 2>/dev/null")) return fail(Code::not_found, "there is no node to run BullMQ with");
  const auto printed =
      output_of(std::string("NODE_PATH='") + KRON_NPM + "/node_modules' node '" + KRON_BULLMQ + "' " +
                std::to_string(port) + " " + std::to_string(counts.alone) + " " + std::to_string(counts.batched) + " " +
                std::to_string(counts.processed) + " '" + data + "'");
  const auto answer = printed ? parse_json(*printed) : fail(Code::io, "BullMQ ended badly");
  if (!answer) return fail(answer.error());
  BullMqRates rates{number_in(*answer, "alone"), number_in(*answer, "batched"), {}};
  const Node* const processed = answer->find("processed");
  const auto* by_concurrency = processed != nullptr ? processed->as<Node::Map>() : nullptr;
  if (by_concurrency == nullptr) return fail(Code::io, "BullMQ's program printed something else");
  for (const Node::Member& member : *by_concurrency) {
    rates.processed[std::atoi(member.key.c_str())] = number_in(*processed, member.key);
  }
  return rates;
}

}  // namespace kron::bench
