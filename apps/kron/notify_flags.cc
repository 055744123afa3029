#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "nested_verbs.h"
#include "notify_verbs.h"
#include "shared_flags.h"

namespace kron::cli {
namespace {

void add_file(CLI::App& verb, NotifyOptions& options) {
  verb.add_option("--notify-file", options.file,
                  "Destinations (default: /etc/krond-notify.yaml for root, else ~/.config/krond-notify.yaml)")
      ->type_name("FILE");
}

std::function<int()> set_up_test(CLI::App& verb) {
  const auto options = std::make_shared<NotifyOptions>();
  verb.add_option("NAME", options->name, "The destination, as kron notify list shows it")->required();
  add_file(verb, *options);
  add_format(verb, options->json);
  return [options] { return test_destination(*options); };
}

std::function<int()> set_up_notify_list(CLI::App& verb) {
  const auto options = std::make_shared<NotifyOptions>();
  add_file(verb, *options);
  add_format(verb, options->json);
  return [options] { return list_destinations(*options); };
}

std::function<int()> set_up_deliver(CLI::App& verb) {
  const auto options = std::make_shared<NotifyOptions>();
  add_file(verb, *options);
  add_socket(verb, options->krond.socket, options->krond.state_dir);
  return [options] { return deliver_notification(*options); };
}

constexpr std::array kNotifyVerbs{
    Verb{"test", "Send a test message to a destination, now", "  kron notify test ops", set_up_test},
    Verb{"list", "List destinations, without their secrets", "  kron notify list", set_up_notify_list},
    Verb{"deliver", "Deliver the message on standard input: krond's worker runs it for each one",
         "  kron worker --type kron.notify --exec 'kron notify deliver'", set_up_deliver},
};

}  // namespace

std::function<int()> set_up_notify(CLI::App& verb) { return set_up_nested(verb, kNotifyVerbs); }

}  // namespace kron::cli
