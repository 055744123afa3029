#include "kron/cluster/claims.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

#include "kron/env/system_error.h"
#include "kron/json/fields.h"
#include "kron/json/writer.h"
#include "kron/runner/run_files.h"

namespace kron::cluster {
namespace {

constexpr std::size_t kDeadlineSize = sizeof(std::int64_t);
constexpr std::size_t kMostClaimBytes = std::size_t{1} << 20;

void write_claim_instant(JsonWriter& json, std::string_view name, const std::optional<Instant>& time) {
  if (time) json.key(name).integer(time->time_since_epoch().count());
}

std::string claim_json(const Claim& claim) {
  const Grant& grant = claim.grant;
  JsonWriter json;
  json.begin_map().member("run_id", grant.run_id).member("job", grant.job);
  write_claim_instant(json, "period", grant.period);
  write_claim_instant(json, "chosen", grant.chosen);
  json.member("trigger", name_of(grant.trigger)).member("start_time", grant.start_time);
  json.key("fence").integer(static_cast<std::int64_t>(grant.fence));
  json.member("lock", grant.lock_key).key("ttl").integer(grant.ttl.count());
  json.key("least_hold").integer(grant.least_hold.count());
  json.key("pid").integer(claim.process.pid);
  json.key("process_start").integer(static_cast<std::int64_t>(claim.process.start_time));
  json.member("boot_id", claim.process.boot_id);
  json.key("lines").integer(static_cast<std::int64_t>(claim.lines_shipped));
  json.key("bytes").integer(static_cast<std::int64_t>(claim.bytes_shipped));
  return json.end_map().take();
}

// Of one size, whatever the numbers in it: so it is always written as a whole, and within one page of memory, which is
// what a reader sees of it even if we are killed meanwhile.
std::string padded_claim(std::string json) {
  const std::size_t pages = (kDeadlineSize + json.size() + 1 + kClaimFileSize - 1) / kClaimFileSize;
  json.resize(pages * kClaimFileSize - kDeadlineSize - 1, ' ');
  json.push_back('\n');
  return json;
}

std::optional<Instant> claim_instant(Fields& fields, std::string_view name) {
  const std::optional<std::int64_t> seconds = fields.integer(name);
  return seconds ? std::optional(instant_of(*seconds)) : std::nullopt;
}

std::string claim_text(Fields& fields, std::string_view name) { return std::string(fields.text(name).value_or("")); }

std::uint64_t claim_count(Fields& fields, std::string_view name) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(fields.integer(name).value_or(0), 0));
}

Status write_claim_at(int file, std::string_view bytes, off_t at) {
  const ssize_t taken = uninterrupted([&] { return ::pwrite(file, bytes.data(), bytes.size(), at); });
  if (taken == static_cast<ssize_t>(bytes.size())) return {};
  return fail(system_error("write", "a claim file", taken < 0 ? errno : ENOSPC));
}

std::string deadline_bytes(Nanoseconds deadline) {
  const std::int64_t count = deadline.count();
  std::string bytes(kDeadlineSize, '\0');
  std::memcpy(bytes.data(), &count, kDeadlineSize);
  return bytes;
}

Result<std::string> claim_contents(int file) {
  std::string bytes;
  std::array<char, kClaimFileSize> part{};
  while (bytes.size() < kMostClaimBytes) {
    const ssize_t got =
        uninterrupted([&] { return ::pread(file, part.data(), part.size(), static_cast<off_t>(bytes.size())); });
    if (got < 0) return fail(system_error("read", "a claim file", errno));
    if (got == 0) return bytes;
    bytes.append(part.data(), static_cast<std::size_t>(got));
  }
  return fail(Code::invalid, "it is larger than any claim");
}

}  // namespace

std::string claim_bytes(Nanoseconds deadline, const Claim& claim) {
  return deadline_bytes(deadline) + padded_claim(claim_json(claim));
}

Result<ReadClaim> parse_claim(std::string_view bytes, std::string_view run_id) {
  if (bytes.size() <= kDeadlineSize) return fail(Code::invalid, "it is cut off");
  std::int64_t deadline = 0;
  std::memcpy(&deadline, bytes.data(), kDeadlineSize);
  const Result<Node> map = parse_json(bytes.substr(kDeadlineSize));
  if (!map) return fail(map.error());
  if (map->as<Node::Map>() == nullptr) return fail(Code::invalid, "it holds no map");
  std::vector<Error> errors;
  Fields fields(*map, "", errors);
  ReadClaim read{Nanoseconds(deadline), {}};
  Grant& grant = read.claim.grant;
  grant.run_id = claim_text(fields, "run_id");
  grant.job = claim_text(fields, "job");
  grant.period = claim_instant(fields, "period");
  grant.chosen = claim_instant(fields, "chosen");
  const Result<Trigger> trigger = parse_trigger(claim_text(fields, "trigger"));
  if (trigger) grant.trigger = *trigger;
  grant.start_time = claim_text(fields, "start_time");
  grant.fence = claim_count(fields, "fence");
  grant.lock_key = claim_text(fields, "lock");
  grant.ttl = Nanoseconds(claim_count(fields, "ttl"));
  grant.least_hold = Nanoseconds(claim_count(fields, "least_hold"));
  read.claim.process.pid = static_cast<pid_t>(fields.integer("pid").value_or(0));
  read.claim.process.start_time = claim_count(fields, "process_start");
  read.claim.process.boot_id = claim_text(fields, "boot_id");
  read.claim.lines_shipped = claim_count(fields, "lines");
  read.claim.bytes_shipped = claim_count(fields, "bytes");
  if (!errors.empty()) return fail(errors.front());
  if (grant.run_id != run_id) return fail(Code::invalid, "it is of another run");
  if (!trigger || grant.job.empty() || grant.start_time.empty()) {
    return fail(Code::invalid, "it does not say whose it is");
  }
  return read;
}

Nanoseconds lease_deadline(Nanoseconds sent, Nanoseconds ttl) {
  if (ttl <= Nanoseconds(0)) return kNoDeadline;
  return sent + ttl - std::min<Nanoseconds>(std::chrono::seconds(1), ttl / 10);
}

Status ClaimFile::write(const Claim& claim) {
  return write_claim_at(file_.get(), padded_claim(claim_json(claim)), static_cast<off_t>(kDeadlineSize));
}

bool ClaimFile::set_deadline(Nanoseconds deadline) {
  return write_claim_at(file_.get(), deadline_bytes(deadline), 0).has_value();
}

Nanoseconds ClaimFile::deadline() const {
  std::int64_t count = 0;
  const ssize_t got = uninterrupted([&] { return ::pread(file_.get(), &count, sizeof count, 0); });
  return got == static_cast<ssize_t>(sizeof count) ? Nanoseconds(count) : Nanoseconds(0);
}

Result<Claims> Claims::open(std::string_view state_directory) {
  std::string path = std::string(state_directory) + "/claims";
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail(system_error("make", path, errno));
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!directory) return fail(system_error("open", path, errno));
  return Claims(std::move(directory), std::move(path));
}

Result<ClaimFile> Claims::create(const Claim& claim, Nanoseconds deadline) {
  const std::string& run_id = claim.grant.run_id;
  if (Status valid = runner::check_run_id(run_id); !valid) return fail(std::move(valid.error()));
  Descriptor file(::openat(directory_.get(), run_id.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return fail(system_error("make", path_ + "/" + run_id, errno));
  if (Status written = write_claim_at(file.get(), claim_bytes(deadline, claim), 0); !written) {
    remove(run_id);
    return fail(std::move(written.error()));
  }
  return ClaimFile(std::move(file));
}

Result<std::vector<Claims::Found>> Claims::read_all() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(path_.c_str()), ::closedir);
  if (!names) return fail(system_error("list", path_, errno));
  std::vector<Found> all;
  while (const dirent* entry = ::readdir(names.get())) {
    if (!runner::is_run_id(entry->d_name)) continue;
    Descriptor file(::openat(directory_.get(), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
      all.push_back({entry->d_name, ClaimFile(), {}, "it cannot be opened as a file"});
      continue;
    }
    const Result<std::string> bytes = claim_contents(file.get());
    Result<ReadClaim> read = bytes ? parse_claim(*bytes, entry->d_name) : fail(bytes.error());
    Found found{entry->d_name, ClaimFile(std::move(file)), {}};
    if (read) {
      found.claim = std::move(read->claim);
    } else {
      found.damage = read.error().message;
    }
    all.push_back(std::move(found));
  }
  std::ranges::sort(all, {}, &Found::run_id);
  return all;
}

void Claims::remove(std::string_view run_id) const {
  if (runner::is_run_id(run_id)) (void)::unlinkat(directory_.get(), std::string(run_id).c_str(), 0);
}

}  // namespace kron::cluster
