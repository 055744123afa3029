#include "top_frame.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "answer_text.h"
#include "screen_times.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostNeeds = 3;
constexpr std::size_t kStripWidth = 16;
constexpr std::size_t kShortStrip = 6;  // on a narrow terminal, where the times need the room
constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kRed = "\x1b[31m", kGreen = "\x1b[32m",
                           kYellow = "\x1b[33m", kReverse = "\x1b[7m", kNoPaint = "\x1b[0m";

// One line: its text without anything that has no width, and how it is painted.
struct Line {
  std::string text;
  std::string_view paint = "";
  bool is_selected = false;
};
using Section = std::vector<Line>;

// Names of others may hold what is wide, turns the line around or moves the cursor: each such byte is a dot.
std::string narrow(std::string_view text) {
  std::string result;
  for (const char c : harmless(text)) result += c >= ' ' && c <= '~' ? c : '.';
  return result;
}

// The first `width` columns, padded to them.
std::string fitted(std::string_view text, std::size_t width) {
  std::size_t columns = 0;
  std::size_t size = 0;
  while (size < text.size()) {
    std::size_t end = size + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    if (columns == width) break;
    ++columns;
    size = end;
  }
  return std::string(text.substr(0, size)).append(width - columns, ' ');
}

// Of the data, what the filter lets through and there is room for.
TopData shown_part(TopData data, const TopView& view) {
  const auto is_hidden = [&](const auto& one) { return one.job.find(view.filter) == std::string::npos; };
  std::erase_if(data.running, is_hidden);
  std::erase_if(data.next, is_hidden);
  data.next.resize(std::min(data.next.size(), kMostStarts));
  return data;
}

// In two units at most: `3 min 20 s`.
std::string length_text(Seconds time) {
  const std::int64_t s = time.count();
  if (s < 60) return std::to_string(s) + " s";
  if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
  return std::to_string(s / 3600) + " h " + std::to_string(s / 60 % 60) + " min";
}

// As many sums as there are columns.
std::vector<std::int64_t> folded(const std::vector<std::int64_t>& starts, std::size_t columns) {
  std::vector<std::int64_t> sums(std::min(columns, starts.size()), 0);
  for (std::size_t i = 0; i < starts.size(); ++i) sums[i * sums.size() / starts.size()] += starts[i];
  return sums;
}

class Painter {
 public:
  // Both outlive it.
  Painter(const TopData& data, const TopView& view, std::size_t width) : data_(data), view_(view), width_(width) {}

  Section needs() const {
    if (!data_.knows_needs) return {};
    if (data_.needs.empty()) return {{"Nothing needs you", colour(kGreen)}};
    Section lines{{"Needs you (" + std::to_string(data_.needs.size()) + ")", colour(kBold)}};
    for (const TopData::Need& need : data_.needs) {
      if (lines.size() > kMostNeeds) break;
      lines.push_back({"  " + narrow(need.name) + (need.name.empty() ? "" : ": ") + narrow(need.what), colour(kRed)});
    }
    return lines;
  }

  Section running() const {
    Section lines{{"Running (" + std::to_string(data_.running.size()) + ")", colour(kBold)}};
    for (const TopData::Run& run : data_.running) {
      const Seconds passed = std::max(data_.now - run.started, Seconds(0));
      const bool is_long = run.usual && passed > *run.usual * 2;
      const double share = run.usual ? share_of(passed, std::max(*run.usual, Seconds(1))) : 0;
      lines.push_back({row(run.job, strip([&](double at) { return at < share; })) + length_text(passed) +
                           (run.usual ? " of " + length_text(*run.usual) + " usual" : ""),
                       is_long ? colour(kYellow) : "", lines.size() == view_.selected + 1});
    }
    return lines;
  }

  Section next() const {
    Section lines{{"Next", colour(kBold)}};
    for (const TopData::Start& start : data_.next) {
      const Seconds window = start.window_end - start.window_start;
      const double at = window > Seconds(0) ? share_of(start.at - start.window_start, window) : 0;
      const double cell = 1.0 / static_cast<double>(strip_width());
      const double first = std::clamp(at, 0.0, 1 - cell / 2);
      const std::string drawn = window > Seconds(0) ? strip([&](double t) { return t <= first && first < t + cell; })
                                                    : std::string(strip_width(), ' ');
      lines.push_back({row(start.job, drawn) + distance_text(start.at - data_.now), "",
                       data_.running.size() + lines.size() == view_.selected + 1});
    }
    return lines;
  }

  Section recent() const {
    if (data_.outcomes.empty()) return {};
    const std::size_t room = width_ > 8 ? width_ - 8 : 0;
    std::string glyphs;
    for (const char letter : data_.outcomes.substr(data_.outcomes.size() - std::min(room, data_.outcomes.size()))) {
      glyphs += view_.has_utf8 && letter == '+' ? "✓" : view_.has_utf8 && letter == 'x' ? "✗" : std::string(1, letter);
    }
    return {{"Recent  " + glyphs, ""}};
  }

  // Both pictures have one scale.
  Section load() const {
    const std::size_t room = width_ > 42 ? width_ - 32 : 10;
    const std::vector<std::int64_t> written = folded(data_.written, room);
    const std::vector<std::int64_t> spread = folded(data_.spread, room);
    if (written.empty() || spread.empty()) return {};
    const std::int64_t peak = std::max({std::int64_t{1}, std::ranges::max(written), std::ranges::max(spread)});
    return {{"Load    " + spark(written, peak) + " as written", colour(kDim)},
            {"        " + spark(spread, peak) + " spread, the next hour", ""}};
  }

  Line title() const {
    const std::string text = data_.problem.empty() ? narrow(data_.sentence) : "OLD: " + narrow(data_.problem);
    return {text, data_.problem.empty() ? colour(kReverse) : colour(kRed)};
  }

  Line footer() const {
    const std::string filter = view_.filter.empty() ? "" : "  [" + narrow(view_.filter) + "]";
    if (!view_.prompt.empty()) return {narrow(view_.prompt), colour(kBold)};
    return {"j k move  Enter show  l logs  r run  p pause  / filter  q quit" + filter, colour(kDim)};
  }

  std::string painted(const Line& line) const {
    std::string text = fitted((line.is_selected ? "> " : "") + line.text.substr(line.is_selected ? 2 : 0), width_);
    const std::string_view paint = line.is_selected ? colour(kReverse) : line.paint;
    return paint.empty() ? text : std::string(paint) + text + std::string(kNoPaint);
  }

 private:
  std::string_view colour(std::string_view code) const { return view_.has_colour ? code : std::string_view(); }

  std::size_t strip_width() const { return width_ < 60 ? kShortStrip : kStripWidth; }

  std::string row(const std::string& job, const std::string& drawn) const {
    return "  " + fitted(narrow(job), std::clamp<std::size_t>(width_ / 3, 8, 40)) + " " + drawn + " ";
  }

  static double share_of(Seconds part, Seconds whole) {
    return static_cast<double>(part.count()) / static_cast<double>(whole.count());
  }

  // A row of cells, each full or not by where it begins, from 0 to 1.
  template <class IsFull>
  std::string strip(IsFull is_full) const {
    std::string text;
    for (std::size_t i = 0; i < strip_width(); ++i) {
      const bool is_it = is_full(static_cast<double>(i) / static_cast<double>(strip_width()));
      text += view_.has_utf8 ? (is_it ? "█" : "░") : (is_it ? "#" : ".");
    }
    return text;
  }

  std::string spark(const std::vector<std::int64_t>& sums, std::int64_t peak) const {
    constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::string_view kAscii = "._-:=+*#";
    std::string text;
    for (const std::int64_t sum : sums) {
      const auto step = static_cast<std::size_t>(sum * 7 / peak + (sum > 0 && sum * 7 < peak ? 1 : 0));
      text += view_.has_utf8 ? kBars[step] : kAscii.substr(step, 1);
    }
    return text;
  }

  const TopData& data_;
  const TopView& view_;
  std::size_t width_;
};

}  // namespace

std::vector<TopRow> top_rows(const TopData& data, const TopView& view) {
  const TopData shown = shown_part(data, view);
  std::vector<TopRow> rows;
  for (const TopData::Run& run : shown.running) rows.push_back({run.job, run.run_id});
  for (const TopData::Start& start : shown.next) rows.push_back({start.job, ""});
  return rows;
}

std::string top_frame(const TopData& data, const TopView& view, std::size_t width, std::size_t height) {
  const TopData shown = shown_part(data, view);
  const Painter painter(shown, view, width);
  Section needs = painter.needs();
  Section running = painter.running();
  Section next = painter.next();
  Section recent = painter.recent();
  Section load = painter.load();
  const std::size_t room = height > 2 ? height - 2 : 0;
  struct Cut {
    Section& section;
    std::size_t least;
  };
  for (const Cut& cut : {Cut{load, 0}, Cut{recent, 0}, Cut{next, 3}, Cut{running, 3}, Cut{needs, 2}, Cut{next, 0},
                         Cut{running, 0}, Cut{needs, 0}}) {
    const std::size_t lines = needs.size() + running.size() + next.size() + recent.size() + load.size();
    if (lines <= room) break;
    const std::size_t most = cut.section.size() - std::min(cut.section.size(), lines - room);
    cut.section.resize(std::max(std::min(cut.section.size(), cut.least), most));
  }
  std::vector<Line> lines{painter.title()};
  for (const Section* section : {&needs, &running, &next, &recent, &load}) {
    lines.insert(lines.end(), section->begin(), section->end());
  }
  lines.resize(std::max<std::size_t>(height, 1) - (height > 1 ? 1 : 0));
  if (height > 1) lines.push_back(painter.footer());
  std::string text;
  for (const Line& line : lines) text += (text.empty() ? "" : "\r\n") + painter.painted(line);
  return text;
}

}  // namespace kron::cli
