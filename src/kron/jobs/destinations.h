#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kron/jobs/definition.h"
#include "kron/jobs/disk.h"
#include "kron/jobs/problem.h"

// Where notifications go: one file for all jobs, which name its entries. Secrets are in files of their own, which are
// read when a message is sent and at no other time.
namespace kron::jobs {

// POST of a message as JSON.
struct Webhook {
  std::string url;               // https://…; http:// for this machine alone. It may be a secret itself
  std::string secret_file = {};  // of the HMAC; empty: no signature
  std::string ca_file = {};      // authorities to trust; empty: those of the system

  bool operator==(const Webhook&) const = default;
};

// By a program that reads a message from its standard input, as sendmail -t does.
struct Mail {
  std::vector<std::string> to;
  std::string from = {};  // empty: as the program has it
  std::string sendmail = "/usr/sbin/sendmail";

  bool operator==(const Mail&) const = default;
};

// A program that gets the message as JSON on its standard input; exit status 0: it is delivered.
struct NotifyCommand {
  std::vector<std::string> words;

  bool operator==(const NotifyCommand&) const = default;
};

using Destination = std::variant<Webhook, Mail, NotifyCommand>;
using Destinations = std::map<std::string, Destination, std::less<>>;

inline constexpr std::size_t kMostDestinationsOfAFile = 1000;
inline constexpr std::size_t kMostDestinationsBytes = std::size_t{1} << 20;  // of the file
inline constexpr std::size_t kMostMailAddresses = 50;

// What is in order of a file's text; what is not is reported.
Destinations parse_destinations(std::string_view text, Report& report);

// The file, as krond trusts it: its owner is root or ourselves, and nobody else may write it. An error of the text is
// one in the file's first problem, as text_of has it.
Result<Destinations> load_destinations(const std::string& path, Trust trust = Trust::own_only);

// Warnings about jobs that name a destination which is not among these.
std::vector<Problem> unknown_destinations(std::span<const JobDefinition> definitions, const Destinations& known);

// For people, without what may be a secret: "webhook https://hooks.example.org", "mail to ops@example.org".
std::string summary_of(const Destination& destination);

}  // namespace kron::jobs
