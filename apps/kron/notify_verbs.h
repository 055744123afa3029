#pragma once

#include <functional>
#include <string>

#include "kron/jobs/destinations.h"
#include "krond_place.h"

namespace CLI {
class App;
}

namespace kron::cli {

// `kron notify …`, free of the parsing of flags (notify_flags.cc). All return the exit status.

struct NotifyOptions {
  std::string file;  // of destinations; empty: krond's default
  bool json = false;
  std::string name;         // test: of the destination
  KrondOptions krond = {};  // deliver: whose tasks they are
};
int list_destinations(const NotifyOptions& options);
int test_destination(const NotifyOptions& options);
// Sends the message on standard input. 0: it is delivered, or need not be. 75: to be tried later without counting.
int deliver_notification(const NotifyOptions& options);

std::function<int()> set_up_notify(CLI::App& verb);

// Sends the message, a JSON object with `text`, `job` and `kind`, to one destination; `id` names it for the receiver,
// who may get it more than once.
Status send_message(const jobs::Destination& destination, const std::string& body, const std::string& id);

// A mail as sendmail -t reads it. Nothing in it can begin a header of its own.
std::string mail_text(const jobs::Mail& mail, const std::string& body, const std::string& id);

}  // namespace kron::cli
