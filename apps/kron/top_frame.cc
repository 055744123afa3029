#include "top_frame.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "answer_text.h"
#include "screen_times.h"

namespace kron::cli {
namespace {

constexpr std::size_t kMostNeeds = 3;
constexpr std::size_t kMostStarts = 8;
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

bool is_shown(const std::string& job, const TopView& view) { return job.find(view.filter) != std::string::npos; }

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

class Painter {
 public:
  Painter(const TopData& data, const TopView& view, std::size_t width) : data_(data), view_(view), width_(width) {}

  Section needs() const {
    Section lines;
    if (!data_.knows_needs) return {};
    if (data_.needs.empty()) return {{"Nothing needs you", colour(kGreen)}};
    lines.push_back({"Needs you (" + std::to_string(data_.needs.size()) + ")", colour(kBold)});
    for (std::size_t i = 0; i < std::min(data_.needs.size(), kMostNeeds); ++i) {
      const TopData::Need& need = data_.needs[i];
      lines.push_back({"  " + narrow(need.name) + (need.name.empty() ? "" : ": ") + narrow(need.what), colour(kRed)});
    }
    return lines;
  }

  Section running(std::size_t& row) const {
    Section lines{{"Running (" + std::to_string(data_.running.size()) + ")", colour(kBold)}};
    for (const TopData::Run& run : data_.running) {
      if (!is_shown(run.job, view_)) continue;
      const Seconds passed = std::max(data_.now - run.started, Seconds(0));
      const bool is_long = run.usual && passed > *run.usual * 2;
      lines.push_back({"  " + fitted(narrow(run.job), name_width()) + " " + bar(passed, run.usual) + " " +
                           length(passed) + (run.usual ? " of " + length(*run.usual) + " usual" : ""),
                       is_long ? colour(kYellow) : "", row++ == view_.selected});
    }
    return lines;
  }

  Section next(std::size_t& row) const {
    Section lines{{"Next", colour(kBold)}};
    std::size_t count = 0;
    for (const TopData::Start& start : data_.next) {
      if (!is_shown(start.job, view_) || ++count > kMostStarts) continue;
      lines.push_back({"  " + fitted(narrow(start.job), name_width()) + " " + strip(start) + " " +
                           distance_text(start.at - data_.now),
                       "", row++ == view_.selected});
    }
    return lines;
  }

  Section recent() const {
    if (data_.outcomes.empty()) return {};
    const std::size_t room = width_ > 8 ? width_ - 8 : 0;
    const std::size_t first = data_.outcomes.size() - std::min(room, data_.outcomes.size());
    std::string glyphs;
    for (const char letter : data_.outcomes.substr(first)) glyphs += glyph(letter);
    return {{"Recent  " + glyphs, ""}};
  }

  Section load() const {
    if (data_.written.empty() && data_.spread.empty()) return {};
    return {{"Load    " + spark(data_.written) + " as written", colour(kDim)},
            {"        " + spark(data_.spread) + " spread, the next hour", ""}};
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
    if (line.is_selected && view_.has_colour) return std::string(kReverse) + text + std::string(kNoPaint);
    if (line.paint.empty()) return text;
    return std::string(line.paint) + text + std::string(kNoPaint);
  }

 private:
  std::string_view colour(std::string_view code) const { return view_.has_colour ? code : std::string_view(); }

  std::size_t name_width() const { return std::clamp<std::size_t>(width_ / 3, 8, 40); }

  // In two units at most: `3 min 20 s`.
  static std::string length(Seconds time) {
    const std::int64_t s = time.count();
    if (s < 60) return std::to_string(s) + " s";
    if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
    return std::to_string(s / 3600) + " h " + std::to_string(s / 60 % 60) + " min";
  }

  std::string full() const { return view_.has_utf8 ? "█" : "#"; }
  std::string empty() const { return view_.has_utf8 ? "░" : "."; }

  std::size_t strip_width() const { return width_ < 60 ? kShortStrip : kStripWidth; }

  // How much of its usual time has passed.
  std::string bar(Seconds passed, const std::optional<Seconds>& usual) const {
    const std::int64_t whole = usual ? std::max<std::int64_t>(usual->count(), 1) : 0;
    const auto filled = whole == 0 ? std::size_t{0}
                                   : std::min(strip_width(), static_cast<std::size_t>(passed.count() * strip_width() /
                                                                                      static_cast<std::size_t>(whole)));
    std::string text;
    for (std::size_t i = 0; i < strip_width(); ++i) text += i < filled ? full() : empty();
    return text;
  }

  // Where in its window it will start; blank without a window.
  std::string strip(const TopData::Start& start) const {
    const std::int64_t whole = (start.window_end - start.window_start).count();
    if (whole <= 0) return std::string(strip_width(), ' ');
    const std::int64_t into = std::clamp<std::int64_t>((start.at - start.window_start).count(), 0, whole);
    const auto at =
        std::min(strip_width() - 1, static_cast<std::size_t>(into * static_cast<std::int64_t>(strip_width()) / whole));
    std::string text;
    for (std::size_t i = 0; i < strip_width(); ++i) text += i == at ? full() : empty();
    return text;
  }

  // The letters of the API, with signs for the two that are most.
  std::string glyph(char letter) const {
    if (view_.has_utf8 && letter == '+') return "✓";
    return view_.has_utf8 && letter == 'x' ? "✗" : std::string(1, letter);
  }

  std::string spark(const std::vector<std::int64_t>& starts) const {
    constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::string_view kAscii = "._-:=+*#";
    const std::size_t room = std::max<std::size_t>(width_ > 40 ? width_ - 32 : 10, 10);
    const std::size_t columns = std::min(room, starts.size());
    std::vector<std::int64_t> sums(columns, 0);
    for (std::size_t i = 0; i < starts.size(); ++i) sums[i * columns / starts.size()] += starts[i];
    const std::int64_t peak = std::max<std::int64_t>(peak_of(data_.written, columns), 1);
    std::string text;
    for (const std::int64_t sum : sums) {
      const auto step =
          std::min<std::size_t>(7, static_cast<std::size_t>(sum * 7 / peak + (sum > 0 && sum * 7 < peak)));
      text += view_.has_utf8 ? std::string(kBars[step]) : std::string(1, kAscii[step]);
    }
    return text;
  }

  // Both pictures have one scale.
  std::int64_t peak_of(const std::vector<std::int64_t>& written, std::size_t columns) const {
    std::int64_t peak = 0;
    for (const auto* starts : {&written, &data_.spread}) {
      std::vector<std::int64_t> sums(std::max<std::size_t>(columns, 1), 0);
      for (std::size_t i = 0; i < starts->size(); ++i) sums[i * columns / starts->size()] += (*starts)[i];
      peak = std::max(peak, *std::ranges::max_element(sums));
    }
    return peak;
  }

  const TopData& data_;
  const TopView& view_;
  std::size_t width_;
};

}  // namespace

std::vector<TopRow> top_rows(const TopData& data, const TopView& view) {
  std::vector<TopRow> rows;
  for (const TopData::Run& run : data.running) {
    if (is_shown(run.job, view)) rows.push_back({run.job, run.run_id});
  }
  std::size_t count = 0;
  for (const TopData::Start& start : data.next) {
    if (is_shown(start.job, view) && ++count <= kMostStarts) rows.push_back({start.job, ""});
  }
  return rows;
}

std::string top_frame(const TopData& data, const TopView& view, std::size_t width, std::size_t height) {
  const Painter painter(data, view, width);
  std::size_t row = 0;
  Section needs = painter.needs();
  Section running = painter.running(row);
  Section next = painter.next(row);
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
