#pragma once

#include <cstdint>
#include <string_view>

#include "kron/http/forwarder.h"
#include "kron/http/message.h"
#include "kron/web/assets.h"

namespace kron::web {

// What a front as a service does with a request.
enum class ServiceWay : std::uint8_t {
  page,        // it answers itself: the page and its assets
  session,     // krond is asked about a session, and its answer adapted
  tokens,      // it answers itself: tokens are made on krond's own socket alone
  open,        // goes on, whoever asks: krond may answer it to anybody
  calendar,    // goes on, with the token of its path in a header
  events,      // a stream that it gives to many
  listed,      // goes on (service_route_of)
  not_let_in,  // nothing is shown to be let in by
  not_listed,
  not_json,  // a body as a form of another site could send it
};
ServiceWay service_way_of(const http::Request& request);

// What a browser gets of the page for this request; null: it is none for it.
const Asset* served_asset(const http::Request& request);

// What is shown to be let in; empty: nothing.
std::string_view shown_in(const http::Request& request);
bool has_json(const http::Request& request);

// A request of the ways open, calendar and listed as krond gets it.
http::Forwarder::Outgoing outgoing_by(ServiceWay way, http::Request request);

}  // namespace kron::web
