#pragma once

#include <string>
#include <string_view>

namespace kron::api {

// An event as it goes to readers ("id: …\nevent: …\ndata: {…}\n\n"), without the members of its JSON that tell how a
// time was chosen: `decision` and `seedHash`, two thirds of the start of a run. What is no such text stays as it is.
std::string brief_event_text(std::string_view text);

}  // namespace kron::api
