#include "kron/jobs/ics_read.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <libical/ical.h>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "kron/base/text.h"
#include "kron/core/civil.h"
#include "kron/jobs/ics_check.h"

namespace kron::jobs {
namespace {

using Day = std::int64_t;  // since 1970-01-01

// libical brings 35 MB of ICU along, which every start of kron and krond would load. It is loaded when the first
// calendar is read, and who has none does not need it.
constexpr char kLibrary[] = "libical.so.3";

#define KRON_ICAL_FUNCTIONS(F)         \
  F(icalparser_parse_string)           \
  F(icalerror_set_errors_are_fatal)    \
  F(icalcomponent_free)                \
  F(icalcomponent_isa)                 \
  F(icalcomponent_get_first_component) \
  F(icalcomponent_get_next_component)  \
  F(icalcomponent_get_first_property)  \
  F(icalcomponent_get_next_property)   \
  F(icalproperty_get_value)            \
  F(icalproperty_get_first_parameter)  \
  F(icalproperty_get_value_as_string)  \
  F(icalvalue_isa)                     \
  F(icalvalue_get_datetime)            \
  F(icalvalue_get_datetimeperiod)      \
  F(icalvalue_get_duration)            \
  F(icalvalue_get_recur)               \
  F(icalrecur_iterator_new)            \
  F(icalrecur_iterator_next)           \
  F(icalrecur_iterator_free)

struct Library {
#define KRON_ICAL_MEMBER(name) decltype(&::name) name = nullptr;
  KRON_ICAL_FUNCTIONS(KRON_ICAL_MEMBER)
#undef KRON_ICAL_MEMBER
};

// Never unloaded: it keeps things for each thread.
Result<const Library*> library() {
  static const Result<Library> kLoaded = []() -> Result<Library> {
    void* handle = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return fail(Code::io, "calendars in files need " + std::string(kLibrary) +
                                ", which is not there; apt-get install libical3");
    }
    Library loaded;
    bool has_all = true;
#define KRON_ICAL_LOAD(name)                                                     \
  loaded.name = reinterpret_cast<decltype(loaded.name)>(::dlsym(handle, #name)); \
  has_all = has_all && loaded.name != nullptr;
    KRON_ICAL_FUNCTIONS(KRON_ICAL_LOAD)
#undef KRON_ICAL_LOAD
    if (!has_all) return fail(Code::io, std::string(kLibrary) + " is not the library that was expected");
    loaded.icalerror_set_errors_are_fatal(0);
    return loaded;
  }();
  if (!kLoaded) return fail(kLoaded.error());
  return &*kLoaded;
}

struct Event {
  std::string uid;
  std::string name;
  Day first = 0;
  Day length = 1;  // days
  std::optional<icalrecurrencetype> rule;
  std::optional<icaltimetype> start;  // of the rule
  std::vector<Day> also;              // RDATE
  std::set<Day> not_on;               // EXDATE
  std::optional<Day> instead_of;      // RECURRENCE-ID
  bool is_cancelled = false;
};

enum class Kind : std::uint8_t { all_day, timed, by_rule, broken };

std::optional<Day> day_of(const icaltimetype& time) {
  if (time.year < 1 || time.year > 9999 || time.month < 1 || time.month > 12) return std::nullopt;
  if (time.day < 1 || time.day > days_in_month(time.year, time.month)) return std::nullopt;
  return days_from_civil(time.year, time.month, time.day);
}

std::int32_t date_number(Day day) {
  const CivilDate date = date_of(day);
  return date.year * 10000 + date.month * 100 + date.day;
}

// What a rule must not say to be a yearly one of days. The lists of libical end with a number that is no part.
bool is_yearly(const icalrecurrencetype& rule) {
  const bool has_times = rule.by_hour[0] != ICAL_RECURRENCE_ARRAY_MAX ||
                         rule.by_minute[0] != ICAL_RECURRENCE_ARRAY_MAX ||
                         rule.by_second[0] != ICAL_RECURRENCE_ARRAY_MAX;
  return rule.freq == ICAL_YEARLY_RECURRENCE && rule.interval >= 1 && !has_times && rule.rscale == nullptr;
}

class Reader {
 public:
  Reader(const Library& ical, const CalendarYears& years)
      : ical_(ical),
        begin_(days_from_civil(years.first, 1, 1)),
        end_(days_from_civil(years.last + 1, 1, 1)),
        is_in_(static_cast<std::size_t>(end_ - begin_), false) {}

  Result<CalendarDates> read(const std::string& text) {
    const std::unique_ptr<icalcomponent, decltype(ical_.icalcomponent_free)> root(
        ical_.icalparser_parse_string(text.c_str()), ical_.icalcomponent_free);
    if (root == nullptr) return fail(Code::invalid, "it is no calendar");
    visit(root.get());
    for (const Event& event : events_) {
      if (event.instead_of && !event.uid.empty()) overridden_[event.uid].insert(*event.instead_of);
    }
    for (const Event& event : events_) {
      if (Status added = add(event); !added) return fail(added.error());
    }
    return dates();
  }

 private:
  // A text of several calendars has a root of its own above them.
  void visit(icalcomponent* component) {
    if (ical_.icalcomponent_isa(component) == ICAL_VEVENT_COMPONENT) return take(component);
    for (icalcomponent* inner = ical_.icalcomponent_get_first_component(component, ICAL_ANY_COMPONENT);
         inner != nullptr; inner = ical_.icalcomponent_get_next_component(component, ICAL_ANY_COMPONENT)) {
      visit(inner);
    }
  }

  void take(icalcomponent* component) {
    Event event;
    event.name = text_of(component, ICAL_SUMMARY_PROPERTY);
    switch (read_event(component, event)) {
      case Kind::all_day:
        events_.push_back(std::move(event));
        return;
      case Kind::timed:
        return leave_out(found_.timed, event);
      case Kind::by_rule:
        return leave_out(found_.by_rules, event);
      case Kind::broken:
        return leave_out(found_.broken, event);
    }
  }

  static void leave_out(CalendarDates::LeftOut& kind, const Event& event) {
    if (kind.count++ == 0) kind.first = quoted(event.name.empty() ? "without a name" : event.name);
  }

  template <class See>
  void each(icalcomponent* component, icalproperty_kind kind, See see) const {
    for (icalproperty* property = ical_.icalcomponent_get_first_property(component, kind); property != nullptr;
         property = ical_.icalcomponent_get_next_property(component, kind)) {
      see(property);
    }
  }

  std::string text_of(icalcomponent* component, icalproperty_kind kind) const {
    icalproperty* property = ical_.icalcomponent_get_first_property(component, kind);
    const char* text = property == nullptr ? nullptr : ical_.icalproperty_get_value_as_string(property);
    return text == nullptr ? "" : text;
  }

  // The values of a property that may be there several times; an all-day event has dates there, too.
  Kind read_days(icalcomponent* component, icalproperty_kind kind, std::vector<Day>& days) const {
    Kind result = Kind::all_day;
    each(component, kind, [&](icalproperty* property) {
      const icalvalue* value = ical_.icalproperty_get_value(property);
      icaltimetype time{};
      const icalvalue_kind type = value == nullptr ? ICAL_NO_VALUE : ical_.icalvalue_isa(value);
      if (type == ICAL_DATE_VALUE || type == ICAL_DATETIME_VALUE) {
        time = ical_.icalvalue_get_datetime(value);
      } else if (type == ICAL_DATETIMEPERIOD_VALUE) {
        time = ical_.icalvalue_get_datetimeperiod(value).time;
      } else {
        result = type == ICAL_PERIOD_VALUE ? Kind::timed : Kind::broken;
        return;
      }
      const std::optional<Day> day = day_of(time);
      if (!day) result = Kind::broken;
      if (!time.is_date && result == Kind::all_day) result = Kind::timed;
      if (day && time.is_date) days.push_back(*day);
    });
    return result;
  }

  Kind read_event(icalcomponent* component, Event& event) const {
    // What libical could not read it leaves out, and says so here.
    if (ical_.icalcomponent_get_first_property(component, ICAL_XLICERROR_PROPERTY) != nullptr) return Kind::broken;
    event.uid = text_of(component, ICAL_UID_PROPERTY);
    event.is_cancelled = text_of(component, ICAL_STATUS_PROPERTY) == "CANCELLED";
    std::vector<Day> starts, ends, except, replaced;
    for (const auto& [kind, days] :
         std::array<std::pair<icalproperty_kind, std::vector<Day>*>, 5>{{{ICAL_DTSTART_PROPERTY, &starts},
                                                                         {ICAL_DTEND_PROPERTY, &ends},
                                                                         {ICAL_EXDATE_PROPERTY, &except},
                                                                         {ICAL_RDATE_PROPERTY, &event.also},
                                                                         {ICAL_RECURRENCEID_PROPERTY, &replaced}}}) {
      if (const Kind read = read_days(component, kind, *days); read != Kind::all_day) return read;
    }
    if (starts.size() != 1 || ends.size() > 1 || replaced.size() > 1) return Kind::broken;
    event.first = starts[0];
    event.not_on.insert(except.begin(), except.end());
    if (!replaced.empty()) event.instead_of = replaced[0];
    if (const Kind read = read_length(component, event, ends); read != Kind::all_day) return read;
    return read_rules(component, event);
  }

  // The end is the day after the last. Some programs give the first day for an event of one.
  Kind read_length(icalcomponent* component, Event& event, const std::vector<Day>& ends) const {
    if (!ends.empty()) {
      if (ends[0] < event.first) return Kind::broken;
      event.length = std::max<Day>(1, ends[0] - event.first);
      return Kind::all_day;
    }
    Kind result = Kind::all_day;
    each(component, ICAL_DURATION_PROPERTY, [&](icalproperty* property) {
      const icalvalue* value = ical_.icalproperty_get_value(property);
      if (value == nullptr || ical_.icalvalue_isa(value) != ICAL_DURATION_VALUE) {
        result = Kind::broken;
        return;
      }
      const icaldurationtype length = ical_.icalvalue_get_duration(value);
      if (length.hours != 0 || length.minutes != 0 || length.seconds != 0) result = Kind::timed;
      if (length.is_neg != 0) result = Kind::broken;
      event.length = std::max<Day>(1, Day{7} * length.weeks + length.days);
    });
    return result;
  }

  Kind read_rules(icalcomponent* component, Event& event) const {
    Kind result = Kind::all_day;
    if (ical_.icalcomponent_get_first_property(component, ICAL_EXRULE_PROPERTY) != nullptr) return Kind::by_rule;
    each(component, ICAL_RRULE_PROPERTY, [&](icalproperty* property) {
      const icalvalue* value = ical_.icalproperty_get_value(property);
      if (value == nullptr || ical_.icalvalue_isa(value) != ICAL_RECUR_VALUE) {
        result = Kind::broken;
        return;
      }
      const icalrecurrencetype rule = ical_.icalvalue_get_recur(value);
      if (event.rule || !is_yearly(rule)) result = Kind::by_rule;
      event.rule = rule;
    });
    each(component, ICAL_RECURRENCEID_PROPERTY, [&](icalproperty* property) {
      // This and all that follow: a rule of its own.
      if (ical_.icalproperty_get_first_parameter(property, ICAL_RANGE_PARAMETER) != nullptr) result = Kind::by_rule;
    });
    if (event.rule) event.start = start_of(component);
    return result;
  }

  icaltimetype start_of(icalcomponent* component) const {
    icalproperty* property = ical_.icalcomponent_get_first_property(component, ICAL_DTSTART_PROPERTY);
    return ical_.icalvalue_get_datetime(ical_.icalproperty_get_value(property));
  }

  Status add(const Event& event) {
    if (event.is_cancelled) return {};
    for (const Day day : event.also) add_days(event, day);
    if (!event.rule) {
      add_days(event, event.first);
      return {};
    }
    if (++rules_ > kMostIcsRules) {
      return fail(Code::invalid, "more than " + std::to_string(kMostIcsRules) + " events with rules");
    }
    const std::unique_ptr<icalrecur_iterator, decltype(ical_.icalrecur_iterator_free)> dates(
        ical_.icalrecur_iterator_new(*event.rule, *event.start), ical_.icalrecur_iterator_free);
    if (dates == nullptr) {
      leave_out(found_.broken, event);
      return {};
    }
    while (true) {
      const std::optional<Day> day = day_of(ical_.icalrecur_iterator_next(dates.get()));
      if (!day || *day >= end_) return {};
      if (++rule_dates_ > kMostIcsRuleDates) {
        return fail(Code::invalid,
                    "its rules name more than " + std::to_string(kMostIcsRuleDates) + " dates; let them begin later");
      }
      add_days(event, *day);
    }
  }

  void add_days(const Event& event, Day first) {
    if (event.not_on.contains(first)) return;
    const auto others = overridden_.find(event.uid);
    if (!event.instead_of && others != overridden_.end() && others->second.contains(first)) return;
    const Day last = std::min(first + event.length, end_);
    for (Day day = std::max(first, begin_); day < last; ++day) is_in_[static_cast<std::size_t>(day - begin_)] = true;
  }

  Result<CalendarDates> dates() {
    for (Day day = begin_; day < end_; ++day) {
      if (!is_in_[static_cast<std::size_t>(day - begin_)]) continue;
      Day last = day;
      while (last + 1 < end_ && is_in_[static_cast<std::size_t>(last + 1 - begin_)]) ++last;
      found_.dates.push_back({date_number(day), date_number(last)});
      day = last;
    }
    if (found_.dates.size() > kMostIcsRanges) {
      return fail(Code::invalid, "more than " + std::to_string(kMostIcsRanges) + " dates and ranges");
    }
    return std::move(found_);
  }

  const Library& ical_;
  Day begin_, end_;          // the first day of the years, and the one after the last
  std::vector<bool> is_in_;  // each day of them
  std::vector<Event> events_;
  std::map<std::string, std::set<Day>> overridden_;  // by UID: occurrences that another event stands for
  std::size_t rules_ = 0;
  std::size_t rule_dates_ = 0;
  CalendarDates found_;
};

}  // namespace

CalendarYears calendar_years(Instant now) {
  const int year = civil_of(epoch_seconds(now)).year;
  return {year - kCalendarYearsBefore, year + kCalendarYearsAhead};
}

Result<CalendarDates> read_ics(std::string_view text, const CalendarYears& years) {
  const Result<std::string> checked = checked_ics(text);
  if (!checked) return fail(checked.error());
  const Result<const Library*> ical = library();
  if (!ical) return fail(ical.error());
  return Reader(**ical, years).read(*checked);
}

}  // namespace kron::jobs
