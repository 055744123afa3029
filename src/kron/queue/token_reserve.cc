#include "kron/queue/token_reserve.h"

#include <algorithm>

#include "kron/env/durable.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

constexpr std::string_view kFile = "tokens.json";
constexpr std::string_view kKey = "reserved";

}  // namespace

Status TokenReserve::load() {
  const auto contents = directory_->read(kFile, 4096);
  if (!contents) return fail(contents.error());
  const auto document = parse_json(contents->bytes);
  const Node* found = document ? document->find(kKey) : nullptr;
  const auto* number = found != nullptr ? found->as<std::int64_t>() : nullptr;
  if (number == nullptr || *number < 0) {
    return fail(Code::invalid, entry_path(directory_->path(), kFile) + " does not tell which tokens are reserved");
  }
  begin_behind(static_cast<std::uint64_t>(*number));
  return {};
}

void TokenReserve::begin_behind(std::uint64_t seen) {
  last_ = std::max(last_, seen);
  reserved_ = last_;
}

Result<std::uint64_t> TokenReserve::next() {
  if (last_ == reserved_) {
    const std::uint64_t wanted = reserved_ + block_;
    const std::string text =
        JsonWriter().begin_map().key(kKey).integer(static_cast<std::int64_t>(wanted)).end_map().take() + "\n";
    const ReplaceResult written = durable_replace(*file_system_, *directory_, {.name = kFile, .bytes = text});
    syncs_ += 2;
    has_failed_ = has_failed_ || written.fatal;
    if (!written) return fail(written.status.error());
    // If we die here the block is lost, and nobody misses it.
    reserved_ = wanted;
  }
  return ++last_;
}

}  // namespace kron
