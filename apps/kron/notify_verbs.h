#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kron/base/instant.h"
#include "kron/base/result.h"
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

// How long a mail or a command may take. Where krond's worker delivers, the timeout of the task, which is the same,
// sees to it.
inline constexpr Seconds kLongestDelivery{120};

// Sends the message, a JSON object with `text`, `job` and `kind`, to one destination; `id` names it for the receiver,
// who may get it more than once. `limit`: of a mail or a command; none: who runs us limits the time.
Status send_message(const jobs::Destination& destination, const std::string& body, const std::string& id,
                    std::optional<Seconds> limit = {});

// Runs the program with this on its standard input; its output is ours. At the limit it is killed, with all that it has
// started.
Status run_program(const std::vector<std::string>& words, std::string_view input, std::optional<Seconds> limit);

// A mail as sendmail -t reads it. Nothing in it can begin a header of its own.
std::string mail_text(const jobs::Mail& mail, const std::string& body, const std::string& id);

}  // namespace kron::cli
