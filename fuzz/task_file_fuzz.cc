#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kron/queue/task_file.h"
#include "kron/queue/task_request.h"

namespace {

// The id that the text gives itself, so that more than the name of the file is looked at.
std::string id_in(std::string_view text) {
  const auto document = kron::parse_json(text);
  const kron::Node* id = document ? document->find("taskId") : nullptr;
  const auto* name = id != nullptr ? id->as<std::string>() : nullptr;
  return name != nullptr ? *name : "a";
}

void require(bool good) {
  if (!good) std::abort();
}

}  // namespace

// Any text is a task or is refused as invalid. A task reads back the same when it is written, in every state it may
// be in; and what may be submitted is written as it was understood.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string id = id_in(text);
  const auto task = kron::parse_task(text, id);
  require(task || task.error().code == kron::Code::invalid);
  if (task) {
    const auto again = kron::parse_task(kron::task_text(*task), id);
    require(again && *again == *task);
  }
  const auto request = kron::parse_new_task(text);
  require(request || request.error().code == kron::Code::invalid);
  if (request) {
    const auto again = kron::parse_new_task(kron::new_task_text(*request));
    require((request->id.empty() && !again) || (again && *again == *request));
  }
  return 0;
}
