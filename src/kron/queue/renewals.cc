#include "kron/queue/renewals.h"

#include <algorithm>

#include "kron/env/durable.h"
#include "kron/json/document.h"
#include "kron/json/writer.h"

namespace kron {
namespace {

constexpr std::string_view kRenewalsFile = "renewals";
constexpr std::string_view kTemporary = ".tmp-renewals";
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kFewLines = 1000;

}  // namespace

std::string Renewals::line_of(std::string_view exec_id, Nanoseconds deadline) const {
  JsonWriter json;
  json.begin_map().member("exec_id", exec_id).member("boot_id", boot_id_);
  return json.key("deadline").integer(deadline.count()).end_map().take() + "\n";
}

std::map<std::string, Nanoseconds, std::less<>> Renewals::load() const {
  std::map<std::string, Nanoseconds, std::less<>> deadlines;
  const auto contents = directory_->read(kRenewalsFile, kMostBytes);
  if (!contents) return deadlines;
  std::string_view rest = contents->bytes;
  // A line without its end was being written when the process died: the one before it counts.
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const auto line = parse_json(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (!line || line->as<Node::Map>() == nullptr) continue;
    const Node* exec_id = line->find("exec_id");
    const Node* boot_id = line->find("boot_id");
    const Node* deadline = line->find("deadline");
    if (exec_id == nullptr || boot_id == nullptr || deadline == nullptr) continue;
    const auto* name = exec_id->as<std::string>();
    const auto* boot = boot_id->as<std::string>();
    const auto* time = deadline->as<std::int64_t>();
    if (name == nullptr || boot == nullptr || time == nullptr || *boot != boot_id_) continue;
    deadlines.insert_or_assign(*name, Nanoseconds(*time));
  }
  return deadlines;
}

Status Renewals::write_anew(const AddAll& add_all) {
  file_.reset();
  std::string text;
  lines_ = 0;
  add_all([&](std::string_view exec_id, Nanoseconds deadline) {
    text += line_of(exec_id, deadline);
    ++lines_;
  });
  most_lines_ = std::max(kFewLines, 4 * lines_);
  auto file = directory_->create(kTemporary, 0600);
  if (!file) return fail(file.error());
  Status written = write_all(**file, text);
  // If we die here, the old file still tells; without a sync that holds for the process, which is all it is for.
  if (written) written = directory_->rename(kTemporary, *directory_, kRenewalsFile, IfTaken::replace);
  if (written) {
    file_ = *std::move(file);
  } else {
    static_cast<void>(directory_->remove(kTemporary));
  }
  return written;
}

Status Renewals::note(std::string_view exec_id, Nanoseconds deadline, const AddAll& add_all) {
  if (file_ == nullptr || lines_ >= most_lines_) return write_anew(add_all);
  Status written = write_all(*file_, line_of(exec_id, deadline));
  ++lines_;
  if (!written) file_.reset();
  return written;
}

}  // namespace kron
