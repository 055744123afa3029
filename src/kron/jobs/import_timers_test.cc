#include "kron/jobs/import_timers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kron/base/rfc3339.h"
#include "kron/jobs/kron_line.h"

namespace kron::jobs::import_timers_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kService =
    "\nId=backup.service\nType=oneshot\nDescription=Save all\nTimeoutStartUSec=infinity\nTimeoutStopUSec=1min 30s\n"
    "RuntimeMaxUSec=infinity\nUMask=0022\nNice=0\nPrivateTmp=no\nProtectSystem=no\nRestart=no\nStandardInput=null\n"
    "StandardOutput=journal\nStandardError=inherit\n"
    "ExecStart={ path=/usr/bin/backup ; argv[]=/usr/bin/backup --all ; ignore_errors=no ; start_time=[n/a] ; pid=0 }\n";

std::string timer(const std::string& lines, const std::string& name = "backup") {
  return "Id=" + name + ".timer\nUnit=backup.service\nActiveState=active\nRandomizedDelayUSec=0\nAccuracyUSec=1min\n" +
         lines + "\n";
}

struct Imported {
  std::vector<std::string> lines;  // .kron
  std::string said;
  std::size_t errors = 0;
};

Imported imported(const std::string& text, TimerOptions options = {}, const char* zone = "UTC",
                  const std::string& no_zone = "") {
  static ZoneDatabase zones;
  options.now = parse_rfc3339("2026-01-01T00:00:00Z").value();
  ModelContext context{.zones = zones, .zone = zones.find(zone).value()};
  context.no_zone.problem = no_zone;
  Report report("shown", text);
  Imported result;
  for (const JobDefinition& definition : import_timers(text, options, context, report)) {
    result.lines.push_back(kron_line(definition).value());
  }
  result.errors = report.error_count();
  for (const Problem& problem : report.problems()) {
    result.said += std::string(name_of(problem.severity)) + ": " + problem.message + "\n";
  }
  return result;
}

Imported with(const std::string& timer_lines, const std::string& service_lines = "", const TimerOptions& options = {}) {
  return imported(timer(timer_lines) + std::string(kService) + service_lines, options);
}

TEST(ImportTimers, ATimerAndItsServiceAreAJob) {
  const Imported result =
      with("TimersCalendar={ OnCalendar=Mon..Fri *-*-* 02:30:00 Europe/Paris ; next_elapse=Thu 2026-01-01 }",
           "User=saver\nGroup=backup\nWorkingDirectory=/srv\nEnvironment=A=1 B=2\n");
  EXPECT_THAT(result.lines,
              ElementsAre("30 2 * * 1-5 @tz(Europe/Paris) name=backup command=\"/usr/bin/backup --all\" user=saver "
                          "group=backup cwd=/srv env=A=1 env=B=2 description=\"Save all\""));
  EXPECT_EQ(result.errors, 0U) << result.said;
}

TEST(ImportTimers, TheOrderOfTheUnitsDoesNotMatter) {
  const std::string text = timer("TimersCalendar={ OnCalendar=daily ; next_elapse=x }");
  EXPECT_EQ(imported(text + std::string(kService)).lines,
            imported(std::string(kService).substr(1) + "\n" + text).lines);
}

TEST(ImportTimers, TimesWithoutAZoneAreTheHosts) {
  const std::string text =
      timer("TimersCalendar={ OnCalendar=*-*-* 02:30:00 ; next_elapse=x }") + std::string(kService);
  const Imported result = imported(text, {}, "Europe/Paris");
  ASSERT_EQ(result.lines.size(), 1U);
  EXPECT_THAT(result.lines[0], HasSubstr("@tz(Europe/Paris)"));
  EXPECT_THAT(result.said, HasSubstr("skips 2026-03-29 02:30: systemd leaves that run out"));
  EXPECT_THAT(imported(text).said, IsEmpty());
  const Imported unknown = imported(text, {}, "UTC", "this host has no name for its zone");
  EXPECT_THAT(unknown.lines, IsEmpty());
  EXPECT_THAT(unknown.said, HasSubstr("no name for its zone"));
}

TEST(ImportTimers, EachLineIsAJob) {
  const Imported result = with(
      "TimersCalendar={ OnCalendar=daily ; next_elapse=x }\nTimersCalendar={ OnCalendar=*-*-* 12:00:00 ; next_elapse=x "
      "}\n"
      "TimersMonotonic={ OnBootUSec=15min ; next_elapse=0 }\nTimersMonotonic={ OnUnitActiveUSec=1d ; next_elapse=0 }");
  ASSERT_EQ(result.lines.size(), 4U) << result.said;
  EXPECT_THAT(result.lines[0], AllOf(HasSubstr("0 0 * * *"), HasSubstr("name=backup ")));
  EXPECT_THAT(result.lines[1], AllOf(HasSubstr("0 12 * * *"), HasSubstr("name=backup-2 ")));
  EXPECT_THAT(result.lines[2], AllOf(HasSubstr("@reboot"), HasSubstr("name=backup-3 ")));
  EXPECT_THAT(result.lines[3], AllOf(HasSubstr("@every 1d"), HasSubstr("name=backup-4 ")));
  EXPECT_THAT(result.said,
              AllOf(HasSubstr("warning: @reboot runs when krond starts"),
                    HasSubstr("warning: @every counts from 1970-01-01T00:00:00Z, a timer from the last start")));
}

TEST(ImportTimers, WhatNoJobCanSayIsAnErrorAndLeftOut) {
  const Imported result = with(
      "TimersCalendar={ OnCalendar=Fri *-*-13 00:00:00 ; next_elapse=x }\nTimersCalendar={ OnCalendar=daily ; "
      "next_elapse=x }\n"
      "TimersMonotonic={ OnActiveUSec=1h ; next_elapse=0 }\nTimersMonotonic={ OnUnitActiveUSec=soon ; next_elapse=0 }\n"
      "OnClockChange=yes\nWakeSystem=yes");
  EXPECT_EQ(result.lines.size(), 1U);
  EXPECT_EQ(result.errors, 4U);
  EXPECT_THAT(result.said, AllOf(HasSubstr("OnCalendar='Fri *-*-13 00:00:00': weekdays and dates"),
                                 HasSubstr("does not know when its timer was started"), HasSubstr("is not understood"),
                                 HasSubstr("OnClockChange= has no counterpart"), HasSubstr("does not wake")));
}

TEST(ImportTimers, ADelayIsAWindowAndPersistenceADeadline) {
  const std::string calendar =
      "TimersCalendar={ OnCalendar=Mon..Fri *-*-* 00:00:00 ; next_elapse=x }\nPersistent=yes\n";
  const Imported result = imported(
      "Id=a.timer\nUnit=backup.service\nActiveState=active\nRandomizedDelayUSec=1h 40min\n"
      "AccuracyUSec=1h\nFixedRandomDelay=no\n" +
      calendar + "\n" + std::string(kService));
  ASSERT_EQ(result.lines.size(), 1U) << result.said;
  EXPECT_THAT(result.lines[0], AllOf(HasSubstr("@win(after,1h40m)"), HasSubstr("deadline=3d")));
  EXPECT_THAT(result.said, AllOf(HasSubstr("note: RandomizedDelaySec= is read as a window of 1h40m"),
                                 HasSubstr("note: AccuracySec= is not carried over")));
  EXPECT_THAT(with("TimersCalendar={ OnCalendar=daily ; next_elapse=x }").lines[0], Not(HasSubstr("deadline")));
  EXPECT_THAT(with("Persistent=yes\nTimersCalendar={ OnCalendar=2026-02-03 ; next_elapse=x }").lines[0],
              HasSubstr("deadline=52w1d"));
}

TEST(ImportTimers, TimersThatAreNotActiveAreSuspendedJobsWhenAskedFor) {
  const std::string text =
      "Id=a.timer\nUnit=backup.service\nActiveState=inactive\n"
      "TimersCalendar={ OnCalendar=daily ; next_elapse=x }\n" +
      std::string(kService);
  EXPECT_THAT(imported(text).lines, IsEmpty());
  const Imported all = imported(text, {.all = true});
  ASSERT_EQ(all.lines.size(), 1U);
  EXPECT_THAT(all.lines[0], HasSubstr("suspend=true"));
}

TEST(ImportTimers, AServiceThatSaysMoreThanAJobCanIsKept) {
  const std::string daily = "TimersCalendar={ OnCalendar=daily ; next_elapse=x }";
  for (const char* line :
       {"ProtectSystem=strict\n", "PrivateTmp=yes\n", "DynamicUser=yes\n",
        "EnvironmentFiles=/etc/x (ignore_errors=yes)\n", "ExecStartPre={ path=/x ; argv[]=/x ; ignore_errors=no }\n",
        "SystemCallFilter=read write\n", "CapabilityBoundingSet=cap_chown\n", "StandardOutput=file:/x\n",
        "Environment=[unprintable]\n", "ExecStart={ path=/x ; argv[]=/x ; ignore_errors=no ; pid=0 }\n"}) {
    // The first line of a name counts.
    std::string service = std::string(kService);
    const std::string name = std::string(line).substr(0, std::string(line).find('='));
    if (name != "ExecStart") {
      if (const std::size_t at = service.find("\n" + name + "="); at != std::string::npos) {
        service.erase(at + 1, service.find('\n', at + 1) - at);
      }
    }
    const Imported kept = imported(timer(daily) + service + line);
    ASSERT_EQ(kept.lines.size(), 1U) << line << kept.said;
    EXPECT_EQ(kept.lines[0],
              "0 0 * * * name=backup command=\"systemctl start --wait backup.service\" description=\"Save all\"")
        << line;
    EXPECT_THAT(kept.said, HasSubstr("which keeps: ")) << line;
    const Imported taken = imported(timer(daily) + service + line, {.keep = KeepUnit::never});
    if (name == "ExecStart") {
      EXPECT_THAT(taken.said, HasSubstr("several commands"));
      continue;
    }
    ASSERT_EQ(taken.lines.size(), 1U) << line << taken.said;
    EXPECT_THAT(taken.lines[0], HasSubstr("/usr/bin/backup --all")) << line;
    EXPECT_THAT(taken.said, HasSubstr("warning: backup.service: not carried over: " + name + "=")) << line;
  }
  EXPECT_THAT(with(daily, "", {.keep = KeepUnit::always}).lines[0], HasSubstr("systemctl start --wait"));
}

Imported with_command(const std::string& argv, KeepUnit keep) {
  std::string service(kService);
  service.replace(service.find("argv[]=") + 7, std::string("/usr/bin/backup --all").size(), argv);
  return imported(timer("TimersCalendar={ OnCalendar=daily ; next_elapse=x }") + service, {.keep = keep});
}

TEST(ImportTimers, WordsThatCannotBeToldApartAreNotGuessed) {
  EXPECT_THAT(with_command("/bin/sh -c cd /srv && ./run \"a b\"", KeepUnit::never).lines,
              ElementsAre(HasSubstr(R"(/bin/sh -c)")));
  EXPECT_THAT(with_command("/bin/sh -c cd /srv && ./run", KeepUnit::never).lines,
              ElementsAre(HasSubstr("command=\"/bin/sh -c 'cd /srv && ./run'\"")));
  for (const char* argv : {"/bin/echo a  b", "/bin/echo $A", "/bin/echo it's", "echo a", "", "/bin/sh -c echo ${A}"}) {
    EXPECT_THAT(with_command(argv, KeepUnit::never).lines, IsEmpty()) << argv;
    EXPECT_THAT(with_command(argv, KeepUnit::as_needed).lines, ElementsAre(HasSubstr("systemctl start --wait")))
        << argv;
  }
}

TEST(ImportTimers, TimeoutsOutputAndPriority) {
  const std::string daily = "TimersCalendar={ OnCalendar=daily ; next_elapse=x }";
  const std::string text =
      timer(daily) +
      "\nId=backup.service\nType=oneshot\nTimeoutStartUSec=2h\nTimeoutStopUSec=5s\nUMask=0077\nNice=19\n"
      "StandardOutput=append:/var/log/x\nStandardError=null\nWorkingDirectory=!~\n"
      "ExecStart={ path=/x ; argv[]=/x ; ignore_errors=no }\n";
  const Imported result = imported(text);
  ASSERT_EQ(result.lines.size(), 1U) << result.said;
  for (const char* part :
       {"timeout=2h", "grace=5s", "umask=077", "nice=19", "stdout=/var/log/x", "stderr=discard", "cwd=~"}) {
    EXPECT_THAT(result.lines[0], HasSubstr(part));
  }
  // The start of what is not a oneshot is not all of it.
  std::string simple = text;
  simple.replace(simple.find("Type=oneshot"), 12, "Type=simple");
  EXPECT_THAT(imported(simple).lines, ElementsAre(Not(HasSubstr("timeout="))));
}

TEST(ImportTimers, WhatIsMissingIsNamed) {
  EXPECT_THAT(imported("").said, HasSubstr("there is no timer in it"));
  EXPECT_THAT(imported(timer("TimersCalendar={ OnCalendar=daily ; next_elapse=x }")).said,
              HasSubstr("backup.timer starts 'backup.service', which is not in this text"));
  EXPECT_THAT(imported("Id=a.timer\nUnit=a.target\nActiveState=active\n\nId=a.target\n").said,
              HasSubstr("which is no service"));
  EXPECT_THAT(imported("Id=.timer\nUnit=backup.service\nActiveState=active\n"
                       "TimersCalendar={ OnCalendar=daily Mars/Olympus ; next_elapse=x }\n" +
                       std::string(kService))
                  .said,
              HasSubstr("Mars/Olympus"));
}

TEST(ImportTimers, NamesAreWhatJobFilesAllow) {
  const std::string line = "TimersCalendar={ OnCalendar=daily ; next_elapse=x }";
  for (const auto& [unit, name] :
       {std::pair{"Backup@home-x", "name=backup-home-x "}, std::pair{"e2scrub_all", "name=e2scrub_all "},
        std::pair{"-.a\\x2db-", "name=a-x2db "}, std::pair{"@", "name=timer "}}) {
    EXPECT_THAT(imported(timer(line, unit) + std::string(kService)).lines, ElementsAre(HasSubstr(name))) << unit;
  }
}

TEST(ImportTimers, FilesWithSecretsAndLimitsOfAServiceAreThoseOfTheJob) {
  const std::string daily = "TimersCalendar={ OnCalendar=daily ; next_elapse=x }";
  const Imported result = with(daily,
                               "EnvironmentFiles=/etc/a (ignore_errors=no)\nEnvironmentFiles=/etc/b "
                               "(ignore_errors=no)\nLoadCredential=db:/etc/db\nLoadCredential=key:/etc/key\n"
                               "MemoryMax=536870912\nTasksMax=64\nCPUQuotaPerSecUSec=1.500s\n");
  ASSERT_EQ(result.lines.size(), 1U) << result.said;
  for (const char* part : {" env_file=/etc/a env_file=/etc/b ", " credential=db=/etc/db credential=key=/etc/key ",
                           "memory_max=512M", "tasks_max=64", "cpu_max=150%"}) {
    EXPECT_THAT(result.lines[0], HasSubstr(part));
  }
  EXPECT_EQ(result.said, "");
  // What nobody has set: the machine's own.
  const Imported usual =
      with(daily, "MemoryMax=infinity\nTasksMax=4915\nCPUQuotaPerSecUSec=infinity\nLoadCredential=\n");
  ASSERT_EQ(usual.lines.size(), 1U);
  EXPECT_THAT(usual.lines[0], ::testing::Not(::testing::AnyOf(HasSubstr("_max="), HasSubstr("credential="))));
  EXPECT_EQ(usual.said, "");
}

TEST(ImportTimers, AFileThatMayBeMissingAndALimitThatNobodyCanSayAreLost) {
  const std::string daily = "TimersCalendar={ OnCalendar=daily ; next_elapse=x }";
  for (const auto& [line, lost] :
       {std::pair{"EnvironmentFiles=/etc/default/x (ignore_errors=yes)", "EnvironmentFiles=/etc/default/x"},
        std::pair{"LoadCredential=db", "LoadCredential=db"},
        std::pair{"LoadCredential=[unprintable]", "LoadCredential=[unprintable]"},
        std::pair{"MemoryMax=4096", "MemoryMax=4096"}, std::pair{"CPUQuotaPerSecUSec=1ms", "CPUQuotaPerSecUSec=1ms"}}) {
    const Imported result = with(daily, std::string(line) + "\n");
    EXPECT_THAT(result.said, HasSubstr(lost)) << line;
  }
}

}  // namespace
}  // namespace kron::jobs::import_timers_test
