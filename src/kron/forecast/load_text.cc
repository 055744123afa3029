#include "kron/forecast/load_text.h"

#include <algorithm>
#include <array>

#include "kron/base/duration.h"
#include "kron/base/rfc3339.h"

namespace kron {
namespace {

constexpr std::size_t kRows = 8;
constexpr std::size_t kLeastColumns = 20;
constexpr std::size_t kShownJobs = 10;
constexpr std::array<std::string_view, 9> kEighths{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

void put_numbers(std::string& out, const LoadProfile& profile) {
  struct Row {
    const char* name;
    std::uint64_t before, after;
  };
  const LoadProfile::Side& before = profile.before;
  const LoadProfile::Side& after = profile.after;
  const std::array rows{Row{"starts", before.total, after.total}, Row{"peak", before.peak, after.peak},
                        Row{"p99", before.p99, after.p99}, Row{"p95", before.p95, after.p95},
                        Row{"p50", before.p50, after.p50}};
  constexpr std::size_t kNumber = 10;
  const auto put = [&out](const std::string& name, const std::string& nominal, const std::string& chosen) {
    out += "  " + name + std::string(8 - name.size(), ' ') + right_aligned(nominal, kNumber) +
           right_aligned(chosen, kNumber) + "\n";
  };
  put("", "before", "after");
  for (const Row& row : rows) put(row.name, std::to_string(row.before), std::to_string(row.after));
}

// The histogram with its axes: the scale on the left, the ends of the range below.
void put_chart(std::string& out, const LoadProfile& profile, const LoadProfile::Side& load, std::size_t width) {
  const std::uint64_t scale = std::max({profile.before.peak, profile.after.peak, std::uint64_t{1}});
  const std::size_t margin = std::to_string(scale).size() + 2;
  const std::size_t columns = std::min(std::max(width, kLeastColumns + margin) - margin, load.starts.size());
  const std::string rows = histogram(load.starts, scale, columns, kRows);
  std::size_t begin = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::size_t end = rows.find('\n', begin);
    out += row == 0 ? std::to_string(scale) + " ┤" : std::string(margin - 1, ' ') + "│";
    out += rows.substr(begin, end + 1 - begin);
    begin = end + 1;
  }
  out += right_aligned("0", margin - 2) + " └" + repeated("─", columns) + "\n";
  const std::string first = rfc3339(profile.from);
  const std::string last = rfc3339(profile.until);
  out += std::string(margin, ' ') + first;
  out += right_aligned(last, columns > first.size() + last.size() ? columns - first.size() : last.size() + 1) + "\n";
}

// As many items as the width allows, at least one; the others of `total` are counted.
std::string listed(std::string line, std::span<const std::string> items, std::uint64_t total, std::size_t width) {
  const auto more = [total](std::size_t shown) {
    return shown < total ? " and " + std::to_string(total - shown) + " more" : "";
  };
  std::size_t shown = 0;
  for (; shown < items.size(); ++shown) {
    const std::string next = (shown == 0 ? " " : ", ") + items[shown];
    if (shown > 0 && line.size() + next.size() + more(shown + 1).size() > width) break;
    line += next;
  }
  return line + more(shown) + "\n";
}

void put_hot_spots(std::string& out, const LoadProfile& profile, const LoadProfile::Side& load,
                   std::span<const jobs::JobDefinition> definitions, std::size_t width) {
  for (const LoadProfile::HotSpot& spot : load.hot_spots) {
    std::vector<std::string> names;
    for (const LoadProfile::Cause& cause : spot.causes) {
      names.push_back(definitions[cause.job].job.identity);
      if (cause.starts > 1) names.back() += " ×" + std::to_string(cause.starts);
    }
    out += listed("  " + rfc3339(profile.start_of(spot.step)) + "  " + counted(spot.starts, "start") + ":", names,
                  spot.jobs, width);
  }
}

void put_unschedulable(std::string& out, const LoadProfile& profile, std::span<const jobs::JobDefinition> definitions,
                       std::size_t width) {
  if (profile.unschedulable.empty()) return;
  out += "\nUnschedulable: " + counted(profile.unschedulable_periods(), "period") + " of " +
         counted(profile.unschedulable.size(), "job") + "; see kron explain\n";
  const std::size_t shown = std::min(profile.unschedulable.size(), kShownJobs);
  for (const LoadProfile::Unschedulable& lost : std::span(profile.unschedulable).first(shown)) {
    std::vector<std::string> periods;
    for (const Instant nominal : lost.first) periods.push_back(rfc3339(nominal));
    out += listed("  " + definitions[lost.job].job.identity + "  " + counted(lost.periods, "period") + ":", periods,
                  lost.periods, width);
  }
  if (profile.unschedulable.size() > shown) {
    out += "  and " + counted(profile.unschedulable.size() - shown, "more job") + "\n";
  }
}

// What of that is as planned: nothing to worry about.
void put_excluded(std::string& out, const LoadProfile& profile, std::span<const jobs::JobDefinition> definitions) {
  if (profile.excluded.empty()) return;
  out += "Of these, " + counted(profile.excluded_periods(), "period") + " excluded by the jobs' own constraints:\n";
  const std::size_t shown = std::min(profile.excluded.size(), kShownJobs);
  for (const LoadProfile::Excluded& excluded : std::span(profile.excluded).first(shown)) {
    out += "  " + definitions[excluded.job].job.identity + "  " + counted(excluded.periods, "period") + ": " +
           excluded.clause + "\n";
  }
  if (profile.excluded.size() > shown) out += "  and " + counted(profile.excluded.size() - shown, "more job") + "\n";
}

}  // namespace

std::string histogram(std::span<const std::uint64_t> values, std::uint64_t scale, std::size_t columns,
                      std::size_t rows) {
  std::vector<std::uint64_t> eighths(columns);
  for (std::size_t column = 0; column < columns; ++column) {
    const std::size_t first = column * values.size() / columns;
    const std::size_t last = (column + 1) * values.size() / columns;
    const auto value = static_cast<double>(std::ranges::max(values.subspan(first, last - first)));
    const double part = value * static_cast<double>(8 * rows) / static_cast<double>(scale);
    eighths[column] = value > 0 ? std::max(std::uint64_t{1}, static_cast<std::uint64_t>(part + 0.5)) : 0;
  }
  std::string out;
  for (std::size_t row = rows; row-- > 0;) {
    std::string line;
    for (const std::uint64_t height : eighths) line += kEighths.at(std::clamp(height, 8 * row, 8 * row + 8) - 8 * row);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string load_text(const LoadProfile& profile, std::span<const jobs::JobDefinition> definitions, std::size_t width) {
  std::string out = counted(profile.jobs, "job");
  if (profile.suspended > 0) out += ", " + std::to_string(profile.suspended) + " suspended";
  if (profile.at_boot > 0) out += ", " + std::to_string(profile.at_boot) + " at boot";
  out += "; " + duration_text(profile.until - profile.from) + " in steps of " + duration_text(profile.step) + "\n\n";
  put_numbers(out, profile);
  out += "\nStarts per " + duration_text(profile.step) + " before spreading (nominal times)\n";
  put_chart(out, profile, profile.before, width);
  out += "\nStarts per " + duration_text(profile.step) + " after spreading (chosen times)\n";
  put_chart(out, profile, profile.after, width);
  if (!profile.before.hot_spots.empty()) out += "\nHot spots before spreading\n";
  put_hot_spots(out, profile, profile.before, definitions, width);
  if (!profile.after.hot_spots.empty()) out += "\nHot spots after spreading\n";
  put_hot_spots(out, profile, profile.after, definitions, width);
  put_unschedulable(out, profile, definitions, width);
  put_excluded(out, profile, definitions);
  return out;
}

}  // namespace kron
