#include "kron/ledger/record_facts.h"

#include <algorithm>
#include <array>

#include "kron/core/words.h"
#include "kron/json/document.h"
#include "kron/state/names.h"

namespace kron {
namespace {

constexpr std::array kFaults{
    Word{RecordFault::none, "none"},
    Word{RecordFault::damaged, "damaged"},
    Word{RecordFault::too_large, "too large"},
    Word{RecordFault::other_version, "other version"},
    Word{RecordFault::unreadable, "unreadable"},
};

// So much of a record that is too large is read to learn whose it is.
constexpr std::size_t kMostToName = std::size_t{64} << 20;

// The identity that a text claims which is no record, if it is the one that the file's name was made of.
std::string claimed_identity(std::string_view text, const Sha256& hash) {
  constexpr std::string_view kKey = "\"Identity\":";
  const std::size_t key = text.find(kKey);
  const std::size_t begin = key == text.npos ? key : text.find('"', key + kKey.size());
  if (begin == text.npos) return {};
  std::size_t end = begin + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return {};
  const Result<Node> value = parse_json(text.substr(begin, end + 1 - begin));
  const auto* identity = value ? value->as<std::string>() : nullptr;
  return identity != nullptr && sha256({*identity}) == hash ? *identity : std::string();
}

RecordFault fault_of(const Error& error) {
  if (error.code == Code::invalid) return RecordFault::damaged;
  return error.field == "Version" ? RecordFault::other_version : RecordFault::unreadable;
}

}  // namespace

std::string_view name_of(RecordFault fault) { return word_of(fault, kFaults); }

Result<RecordFacts> look_at_record(Directory& directory, const Sha256& hash) {
  RecordFacts facts;
  facts.file = state_file_name(hash);
  const Result<FileContents> file = directory.read(facts.file, kMostToName);
  if (!file && file.error().code == Code::not_found) return fail(file.error());
  const Result<FileInfo> info = directory.info(facts.file);
  facts.bytes = info ? info->size : 0;
  if (facts.bytes > kMostRecordBytes) {
    facts.fault = RecordFault::too_large;
    facts.reason = "its " + std::to_string(facts.bytes) + " bytes are more than the " +
                   std::to_string(kMostRecordBytes) + " of a record";
    if (file) facts.identity = claimed_identity(file->bytes, hash);
    return facts;
  }
  if (!file) {
    facts.fault = RecordFault::unreadable;
    facts.reason = file.error().message;
    return facts;
  }
  Result<StateRecord> record = state::parse(file->bytes);
  if (record && sha256({record->identity}) != hash) {
    record = fail(Code::invalid, "its Identity does not belong to its name");
  }
  if (!record) {
    facts.fault = fault_of(record.error());
    facts.reason = record.error().message;
    facts.identity = claimed_identity(file->bytes, hash);
    return facts;
  }
  facts.identity = record->identity;
  facts.record = *std::move(record);
  return facts;
}

}  // namespace kron
