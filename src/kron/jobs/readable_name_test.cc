#include "kron/jobs/readable_name.h"

#include <gtest/gtest.h>

#include "kron/jobs/definition.h"

namespace kron::jobs {
namespace {

TEST(ReadableName, IsMadeOfTheProgramAndItsFirstArgument) {
  const std::pair<std::string, std::string> cases[] = {
      {"/usr/bin/backup --full", "backup"},
      {"cd / && run-parts --report /etc/cron.hourly", "run-parts-cron.hourly"},
      {"test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }", "run-parts-cron.daily"},
      {"[ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean", "sessionclean"},
      {"LANG=C nice /srv/App/bin/Poll --quiet", "poll"},
      {"php artisan schedule:run >> /dev/null 2>&1", "php-artisan"},
      {"mail -s Report team", "mail-report"},
      {"echo \"hello $USER\"", "echo"},
      {"cd /srv", "cd-srv"},
      {"", "job"},
      {"'", "job"},
      {"--", "job"},
  };
  for (const auto& [command, name] : cases) {
    EXPECT_EQ(readable_name(command), name) << command;
    EXPECT_TRUE(is_job_name(readable_name(command)));
  }
  EXPECT_TRUE(is_job_name(readable_name(std::string(500, 'x') + " " + std::string(500, '/'))));
}

}  // namespace
}  // namespace kron::jobs
