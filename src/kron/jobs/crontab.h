#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kron/jobs/model.h"

namespace kron::jobs {

enum class CrontabForm : std::uint8_t {
  system,  // /etc/crontab, cron.d: a user column between schedule and command
  user,    // crontab -e
};

struct CrontabSource {
  CrontabForm form = CrontabForm::user;
  std::string base_name;  // the file's, part of each identity
  std::string user;       // user form: whose crontab it is; may be empty
};

// The system form for files called crontab or below a cron.d directory, otherwise the user form; the user of a spool
// file (…/crontabs/NAME) is its name.
CrontabSource crontab_source(std::string_view path);

// A crontab as cron(8) reads it: NAME=value lines hold for what follows; CRON_TZ sets the zone (context.zone before
// that); the first unescaped `%` begins the standard input, in which `%` is a line break; SHELL -c runs the command in
// the home directory. Also read: cronie's `-` before the minutes, and RANDOM_DELAY as a window. MAILTO is noted, and
// what is hardly meant (a % in a format, a user where the command should be) is warned of. The comment lines directly
// above an entry are its description. An
// identity is cron/<base name>/<12 hex>, a hash of user, schedule and command, so inserting a line moves nothing.
std::vector<JobDefinition> read_crontab(std::string_view text, const CrontabSource& source, ModelContext& context,
                                        Report& report);

}  // namespace kron::jobs
