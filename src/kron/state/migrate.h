#pragma once

#include <span>
#include <string_view>

#include "kron/json/document.h"
#include "kron/state/record.h"

// How files of an older version are read. A new version of the files is one entry in the list of migrate.cc: what its
// predecessor's members become. Nothing is written by this: a file gets the present version when it is written next.
namespace kron::state {

// From one version to the next. A step gets all members of a document but Version, and gives those of the next version;
// its error says why the document cannot be one of its version (code invalid: the file is set aside as damaged).
struct Migration {
  using Step = Result<Node::Map> (*)(Node::Map members);

  std::string_view from;
  std::string_view to;
  Step record = nullptr;      // a job's record; null: the same in both versions
  Step first_seen = nullptr;  // first-seen.json
  Step recorded = nullptr;    // first-seen.recorded-<number>.json
};

// Oldest first; empty while there has been one version only.
std::span<const Migration> migrations();

// Refused (field "Version"): no step leads from this version to the present one; the message names the versions that
// can be read, and the cure.
Status check_version(std::string_view version, std::span<const Migration> older = migrations());

// The document as the present version has it, through as many steps as that takes. `kind` says what it is, such as
// &Migration::record. Refused as by check_version.
Result<Node> migrate(const Node& document, Migration::Step Migration::*kind,
                     std::span<const Migration> older = migrations());

// parse of record.h, for a program that knows these older versions.
Result<StateRecord> parse(std::string_view text, std::span<const Migration> older);

}  // namespace kron::state
