#pragma once

#include <string>
#include <string_view>

#include "kron/api/call.h"
#include "kron/json/fields.h"
#include "kron/scheduler/operator_request.h"

namespace kron::api {

// Invalid: too long, or with control characters; the message is to follow the note's name.
Status check_note(std::string_view note);

// Whether it has what would break a line, move a terminal's cursor, or show the text in another order than it has.
bool has_control(std::string_view text);

// The member `note` of a body. Reported: too long, or with control characters.
std::string note_in(Fields& fields);

// Who asks: his name where this machine's own file has one, else what the listener calls him ("uid 1000"). Reads that
// file, so not on the loop.
std::string asker_name(const http::Principal& principal);

// Of a request whose body has nothing but a note, or is empty.
Result<Attribution> attribution_of(const http::Request& request);

}  // namespace kron::api
