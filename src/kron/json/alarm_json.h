#pragma once

#include <string>
#include <string_view>

#include "kron/core/alarm.h"

namespace kron {

// One line for people: "backup failed with exit status 1, 2 times in a row since 2026-03-01T02:30:00Z".
std::string message_text(std::string_view identity, const AlarmMessage& message);

// The data of a task kron.notify, and the body that a webhook gets (docs/formats.md, "Notifications").
std::string notify_payload(std::string_view identity, const AlarmMessage& message, std::string_view destination,
                           std::string_view host);

}  // namespace kron
