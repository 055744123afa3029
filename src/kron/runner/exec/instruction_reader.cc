#include "kron/runner/exec/instruction_reader.h"

#include <cstdlib>
#include <cstring>

#include "kron/runner/protocol.h"

namespace kron::exec {
namespace {

using runner::Tag;

struct Record {
  Tag tag = Tag::end;
  char* bytes = nullptr;
  std::size_t size = 0;
};

class RecordReader {
 public:
  RecordReader(char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}

  bool at_end() const { return at_ == end_; }

  bool next(Record& record) {
    if (static_cast<std::size_t>(end_ - at_) < runner::kRecordHead) return false;
    std::uint32_t size = 0;
    std::memcpy(&size, at_ + 1, sizeof size);
    record = {static_cast<Tag>(*at_), at_ + runner::kRecordHead, size};
    if (static_cast<std::size_t>(end_ - record.bytes) < size) return false;
    at_ = record.bytes + size;
    return true;
  }

 private:
  char* at_;
  char* end_;
};

bool is_text(const char* bytes, std::size_t size) {
  return size > 0 && std::memchr(bytes, 0, size) == bytes + size - 1;
}

template <class Number>
bool number_of(const Record& record, Number& number) {
  if (record.size != sizeof number) return false;
  std::memcpy(&number, record.bytes, sizeof number);
  return true;
}

template <class Number>
bool number_of(const Record& record, std::optional<Number>& number) {
  return number_of(record, number.emplace());
}

// False for a tag that is none of a setting's, too.
bool setting_of(const Record& record, ProcessSettings& settings) {
  bool is_read = false;
  runner::for_each_setting(settings, [&](Tag tag, auto& setting) {
    if (tag == record.tag) is_read = number_of(record, setting);
  });
  return is_read;
}

// It becomes the name of a directory.
bool run_id_of(const Record& record, const char*& run_id) {
  run_id = record.bytes;
  return is_text(record.bytes, record.size) && record.bytes[0] != 0 && record.bytes[0] != '.' &&
         std::strchr(record.bytes, '/') == nullptr;
}

bool text_of(const Record& record, const char*& text) {
  text = record.bytes;
  return is_text(record.bytes, record.size);
}

// A duration: as a timer can count it.
bool duration_of(const Record& record, std::int64_t& nanoseconds) {
  return number_of(record, nanoseconds) && nanoseconds >= 0;
}

bool limit_of(const Record& record, Instructions& instructions) {
  if (record.size != runner::kLimitSize || instructions.limit_count == RLIM_NLIMITS) return false;
  std::uint32_t resource = 0;
  std::memcpy(&resource, record.bytes, 4);
  if (resource >= RLIM_NLIMITS) return false;
  Limit& limit = instructions.limits[instructions.limit_count++];
  limit.resource = static_cast<int>(resource);
  std::memcpy(&limit.values.rlim_cur, record.bytes + 4, 8);
  std::memcpy(&limit.values.rlim_max, record.bytes + 12, 8);
  return true;
}

bool stream_of(const Record& record, Stream& stream) {
  if (record.size == 0 || static_cast<unsigned char>(*record.bytes) > static_cast<unsigned char>(OutputKind::syslog)) {
    return false;
  }
  stream = {static_cast<OutputKind>(*record.bytes), record.bytes + 1};
  if (stream.kind == OutputKind::file) return is_text(stream.path, record.size - 1);
  return record.size == 1;
}

bool groups_of(const Record& record, Instructions& instructions) {
  if (record.size % sizeof(gid_t) != 0) return false;
  gid_t* groups = static_cast<gid_t*>(std::malloc(record.size + 1));
  if (groups == nullptr) return false;
  std::free(instructions.groups);
  std::memcpy(groups, record.bytes, record.size);
  instructions.groups = groups;
  instructions.group_count = record.size / sizeof(gid_t);
  return true;
}

bool failure_of(const Record& record, Instructions& instructions) {
  if (record.size < sizeof(std::uint32_t)) return false;
  std::memcpy(&instructions.failure_code, record.bytes, sizeof(std::uint32_t));
  instructions.failure = record.bytes + sizeof(std::uint32_t);
  return is_text(instructions.failure, record.size - sizeof(std::uint32_t));
}

bool env_file_of(const Record& record, Instructions& to) {
  if (to.env_file_count == kMostEnvFiles) return false;
  return text_of(record, to.env_files[to.env_file_count++]) && record.bytes[0] == '/';
}

// NAME=PATH: the name becomes that of a file.
bool credential_of(const Record& record, Instructions& to) {
  if (to.credential_count == kMostCredentials || !is_text(record.bytes, record.size)) return false;
  char* const equals = std::strchr(record.bytes, '=');
  if (equals == nullptr || equals[1] != '/') return false;
  *equals = 0;
  to.credentials[to.credential_count++] = {record.bytes, equals + 1};
  return is_credential_name(record.bytes);
}

// Texts that come several times, kept in the order they came.
class Texts {
 public:
  static constexpr std::size_t kSpare = 3;  // the null at their end, and room for two more

  // `few`: a place for them, if they are to have it.
  Texts(std::size_t count, char** few)
      : texts_(few != nullptr ? few : static_cast<char**>(std::calloc(count + kSpare, sizeof(char*)))) {}
  bool add(const Record& record) {
    texts_[count_++] = record.bytes;
    return is_text(record.bytes, record.size);
  }
  char** all() const { return texts_; }
  char** next() const { return texts_ + count_; }

 private:
  char** texts_;
  std::size_t count_ = 0;
};

bool read_record(const Record& record, Instructions& to, Texts& arguments, Texts& variables) {
  switch (record.tag) {
    case Tag::end:
      return record.size == 0;
    case Tag::run_id:
      return run_id_of(record, to.run_id);
    case Tag::argument:
      return arguments.add(record);
    case Tag::variable:
      return variables.add(record);
    case Tag::default_directory:
      to.directory_may_fail = true;
      return text_of(record, to.directory);
    case Tag::directory:
      return text_of(record, to.directory);
    case Tag::input:
      to.input.emplace(record.bytes, record.size);
      return true;
    case Tag::user:
      return number_of(record, to.user);
    case Tag::group:
      return number_of(record, to.group);
    case Tag::groups:
      return groups_of(record, to);
    case Tag::limit:
      return limit_of(record, to);
    case Tag::out:
      return stream_of(record, to.out);
    case Tag::err:
      return stream_of(record, to.err);
    case Tag::capture:
      return number_of(record, to.capture);
    case Tag::timeout:
      return duration_of(record, to.timeout);
    case Tag::grace:
      return duration_of(record, to.grace);
    case Tag::failure:
      return failure_of(record, to);
    case Tag::cgroup:
      return text_of(record, to.cgroup);
    case Tag::lease:
      to.has_lease = true;
      return record.size == 0;
    case Tag::env_file:
      return env_file_of(record, to);
    case Tag::credential:
      return credential_of(record, to);
    case Tag::credentials_at:
      return text_of(record, to.credentials_at) && record.bytes[0] == '/';
    case Tag::mask_output:
      to.masks_output = true;
      return record.size == 0;
    default:
      return setting_of(record, to.process);
  }
}

}  // namespace

Instructions::~Instructions() {
  if (arguments != few) {
    std::free(arguments);
    std::free(variables);
  }
  std::free(groups);
}

const char* read_instructions(char* bytes, std::size_t size, Instructions& instructions) {
  if (size < runner::kMarkSize || size > runner::kMostInstructions ||
      std::memcmp(bytes, runner::kInstructionsMark, runner::kMarkSize) != 0) {
    return "these are no instructions of this version";
  }
  const RecordReader start(bytes + runner::kMarkSize, size - runner::kMarkSize);
  std::size_t counts[256] = {};
  Record record;
  RecordReader counting = start;
  do {
    if (!counting.next(record)) return "the instructions are cut off";
    ++counts[static_cast<std::uint8_t>(record.tag)];
  } while (record.tag != Tag::end);
  if (!counting.at_end()) return "something follows the instructions";

  const std::size_t argument_count = counts[static_cast<std::uint8_t>(Tag::argument)];
  const std::size_t variable_count = counts[static_cast<std::uint8_t>(Tag::variable)];
  const bool are_few = argument_count + variable_count + 2 * Texts::kSpare <= Instructions::kFew;
  Texts arguments(argument_count, are_few ? instructions.few : nullptr);
  Texts variables(variable_count, are_few ? instructions.few + argument_count + Texts::kSpare : nullptr);
  instructions.arguments = arguments.all();
  instructions.variables = variables.all();
  if (arguments.all() == nullptr || variables.all() == nullptr) return "there is no memory for the instructions";
  RecordReader reading = start;
  do {
    if (!reading.next(record) || !read_record(record, instructions, arguments, variables)) {
      return "an instruction is unknown or malformed";
    }
  } while (record.tag != Tag::end);
  instructions.more = variables.next();
  if (instructions.run_id == nullptr) return "the run has no id";
  if (instructions.credential_count > 0 && instructions.credentials_at == nullptr) {
    return "there is no place for the credentials";
  }
  if (instructions.failure == nullptr && (instructions.arguments[0] == nullptr || instructions.directory == nullptr)) {
    return "there is nothing to run";
  }
  return nullptr;
}

}  // namespace kron::exec
