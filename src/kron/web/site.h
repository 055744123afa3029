#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/base/result.h"

namespace kron::web {

// The names by which browsers reach a front.
struct Site {
  struct Name {
    std::string scheme;  // "https": that of a proxy in front, if there is one
    std::string host;    // as Host has it: with its port, unless that is the scheme's usual one
  };
  std::string scheme = "http";   // what is spoken here, by this machine's own names
  std::vector<Name> names = {};  // beside localhost, 127.0.0.1 and [::1]

  // The scheme a browser uses that asks this Host; empty: it is no name of this site.
  std::string_view scheme_of(std::string_view host) const;
};

// https://kron.example.org[:port]: a scheme and a host, no path. Code invalid: it is none.
Result<Site::Name> parse_public_url(std::string_view url);

// Whether a Host is this machine by a name that nobody else can give it, whatever the port.
bool is_this_machine(std::string_view host);

}  // namespace kron::web
