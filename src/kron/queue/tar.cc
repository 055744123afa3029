#include "kron/queue/tar.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "kron/base/text.h"
#include "kron/queue/tar_header.h"

namespace kron {
namespace {

using tar::kBlock;

constexpr std::size_t kMostExtensionBytes = std::size_t{64} << 10;
constexpr std::string_view kPathKey = "path";
constexpr std::string_view kSizeKey = "size";

std::size_t padded(std::size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

bool is_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

class Reader {
 public:
  explicit Reader(std::string_view archive) : rest_(archive), size_(archive.size()) {}

  Result<std::vector<StagedFile>> read() {
    while (true) {
      const auto header = take(kBlock);
      if (!header) return fail(header.error());
      if (is_zero(*header)) break;
      if (Status read = read_entry(*header); !read) return fail(read.error());
    }
    if (!is_zero(rest_)) return fail(wrong("there is something behind its end"));
    if (next_path_ || next_size_) return fail(wrong("it ends where a file should be"));
    if (Status good = check_staged_files(files_); !good) return fail(good.error());
    return std::move(files_);
  }

 private:
  Error wrong(std::string problem) const {
    return {Code::invalid,
            "not a usable tar archive: " + std::move(problem) + " (byte " + std::to_string(size_ - rest_.size()) + ")"};
  }

  Result<std::string_view> take(std::size_t size) {
    if (size > rest_.size()) return fail(wrong("it is cut off"));
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  Result<std::string_view> take_contents(std::uint64_t size, std::size_t most) {
    if (size > most) return fail(wrong("an entry of " + std::to_string(size) + " bytes is too large"));
    auto contents = take(padded(size));
    if (contents) *contents = contents->substr(0, size);
    return contents;
  }

  Status read_entry(std::string_view header) {
    const auto sum = tar::number_of(tar::bytes_of(header, tar::kSum));
    if (!sum || *sum != tar::sum_of(header)) return fail(wrong("the checksum of a header is wrong"));
    const std::string_view magic = tar::bytes_of(header, tar::kMagic);
    if (magic != tar::kPosixMagic && magic != tar::kGnuMagic) return fail(wrong("it is of a kind before POSIX"));
    const auto size = tar::number_of(tar::bytes_of(header, tar::kSize));
    if (!size) return fail(wrong("the size of an entry is no number"));
    switch (const char type = header[tar::kType.offset]) {
      case tar::kRecords:
      case tar::kGlobalRecords:
      case tar::kLongName:
        return read_extension(type, *size);
      case tar::kRegular:
      case tar::kOldRegular:
        return read_file(path_of(header), next_size(*size));
      case tar::kDirectory:
        return read_directory(path_of(header), next_size(*size));
      default:
        return fail(wrong(quoted(path_of(header)) + " is neither a file nor a directory; links are not staged"));
    }
  }

  // What tells of the entries behind it.
  Status read_extension(char type, std::uint64_t size) {
    const auto contents = take_contents(size, kMostExtensionBytes);
    if (!contents) return fail(contents.error());
    if (type == tar::kLongName) {
      next_path_ = tar::text_of(*contents);
      return {};
    }
    for (std::string_view records = *contents; !records.empty();) {
      if (Status read = read_record(records, type == tar::kGlobalRecords); !read) return read;
    }
    return {};
  }

  // "<bytes of the record> <key>=<value>\n"
  Status read_record(std::string_view& records, bool is_global) {
    const std::size_t blank = std::min(records.find(' '), records.size());
    const auto length = decimal(records.substr(0, blank));
    if (!length || *length > records.size() || *length < blank + 2 || records[*length - 1] != '\n') {
      return fail(wrong("a pax record is damaged"));
    }
    const std::string_view record = records.substr(blank + 1, *length - blank - 2);
    records.remove_prefix(*length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return fail(wrong("a pax record has no value"));
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key.starts_with("GNU.sparse.")) return fail(wrong("files with holes are not staged"));
    if (key != kPathKey && key != kSizeKey) return {};
    if (is_global) return fail(wrong("a pax record gives all files the same " + std::string(key)));
    if (key == kPathKey) {
      next_path_ = value;
    } else if (next_size_ = decimal(value); !next_size_) {
      return fail(wrong("the size of an entry is no number"));
    }
    return {};
  }

  std::string path_of(std::string_view header) {
    if (next_path_) return *std::exchange(next_path_, std::nullopt);
    const auto name = tar::text_of(tar::bytes_of(header, tar::kName));
    const bool is_posix = tar::bytes_of(header, tar::kMagic) == tar::kPosixMagic;
    const auto prefix = is_posix ? tar::text_of(tar::bytes_of(header, tar::kPrefix)) : std::string_view();
    return prefix.empty() ? std::string(name) : std::string(prefix) + "/" + std::string(name);
  }

  std::uint64_t next_size(std::uint64_t size) { return std::exchange(next_size_, std::nullopt).value_or(size); }

  // As `tar -C DIR .` names what is in it.
  static std::string_view without_dot(std::string_view path) {
    if (path.starts_with("./")) path.remove_prefix(std::min(path.find_first_not_of('/', 1), path.size()));
    return path;
  }

  Status read_file(const std::string& path, std::uint64_t size) {
    if (files_.size() == kMostStagedFiles) {
      return fail(wrong("it has more than " + std::to_string(kMostStagedFiles) + " files; pack them"));
    }
    const auto contents = take_contents(size, kMostStagedBytes);
    if (!contents) return fail(contents.error());
    files_.push_back({std::string(without_dot(path)), std::string(*contents)});
    return {};
  }

  Status read_directory(const std::string& path, std::uint64_t size) {
    if (size != 0) return fail(wrong("the directory " + quoted(path) + " has contents of its own"));
    std::string_view name = without_dot(path);
    while (name.ends_with('/')) name.remove_suffix(1);
    if (name.empty() ? path.starts_with("./") : name == ".") return {};
    const StagedFile as_file{std::string(name), ""};
    return check_staged_files(std::span(&as_file, 1));
  }

  std::string_view rest_;
  std::size_t size_;
  std::vector<StagedFile> files_;
  std::optional<std::string> next_path_;
  std::optional<std::uint64_t> next_size_;
};

void append(std::string& archive, std::string_view name, char type, std::string_view contents) {
  const auto header = tar::header_block(name, type, contents.size());
  archive.append(header.data(), header.size()).append(contents);
  archive.append(padded(contents.size()) - contents.size(), '\0');
}

// The length counts itself, too.
std::string path_record(std::string_view path) {
  const std::string text = " " + std::string(kPathKey) + "=" + std::string(path) + "\n";
  std::size_t length = text.size();
  while (length != text.size() + std::to_string(length).size()) length = text.size() + std::to_string(length).size();
  return std::to_string(length) + text;
}

}  // namespace

Result<std::vector<StagedFile>> read_tar(std::string_view archive) {
  if (archive.size() > kMostTarBytes) {
    return fail(Code::invalid, "a tar archive of " + std::to_string(archive.size()) +
                                   " bytes is too large; the most is " + std::to_string(kMostTarBytes));
  }
  return Reader(archive).read();
}

std::string write_tar(std::span<const StagedFile> files) {
  std::string archive;
  for (const StagedFile& file : files) {
    if (file.path.size() > tar::kName.size) append(archive, file.path, tar::kRecords, path_record(file.path));
    append(archive, file.path, tar::kRegular, file.bytes);
  }
  return archive.append(2 * kBlock, '\0');
}

}  // namespace kron
