#include <array>
#include <memory>
#include <utility>

#include "kron/api/paths.h"
#include "kron/base/sha256.h"
#include "kron/json/fields.h"
#include "kron/report/trial.h"

namespace kron::api {
namespace {

// JSON spells a line's end in two bytes.
constexpr std::size_t kMostTryBody = 2 * report::TrialRequest::kMostBytes + 1024;

struct TryBody {
  std::string text;
  jobs::Spelling spelling = jobs::Spelling::kron;
};

Result<TryBody> try_body(const std::string& body) {
  const auto document = object_in(body);
  if (!document) return fail(document.error());
  std::vector<Error> errors;
  Fields fields(*document, "", errors);
  fields.reject_unknown(std::array<std::string_view, 2>{"text", "source"});
  TryBody asked;
  const auto text = fields.text("text");
  const std::string_view source = fields.text("source").value_or("kron");
  if (!errors.empty()) return fail(errors.front());
  if (!text) return fail(Code::invalid, "`text` is missing: the lines to try", "text");
  if (source != "kron" && source != "yaml") return fail(Code::invalid, "`source` is kron or yaml", "source");
  asked.text = std::string(*text);
  if (source == "yaml") asked.spelling = jobs::Spelling::yaml;
  return asked;
}

void try_text(Parts& parts, const CallPtr& call) {
  auto asked = try_body(call->request.body);
  if (!asked) return call->refuse(asked.error());
  call->drop_body();
  const auto body = std::make_shared<const TryBody>(*std::move(asked));
  const std::string kind = body->spelling == jobs::Spelling::yaml ? "yaml " : "kron ";
  parts.forecasts->ask(
      call, {.key = "try " + kind + hex(sha256({body->text})),
             .compute = [&parts, body](const Forecasts::Definitions& here, const LookLimit& limit) -> Forecasts::Made {
               auto json = report::trial_json(
                   {.text = body->text, .spelling = body->spelling, .now = now(parts.clock), .limit = limit}, here);
               if (!json) return fail(json.error());
               return std::make_shared<TextForecast>(*std::move(json));
             },
             .answer =
                 [](const CallPtr& asker, const std::shared_ptr<const Forecast>& forecast) {
                   asker->send_json(static_cast<const TextForecast&>(*forecast).text);
                 }});
}

}  // namespace

std::vector<Route> try_routes(Parts& parts) {
  return {
      {"POST", "/api/v1/try", Right::read, with(parts, try_text), {}, kMostTryBody},
  };
}

}  // namespace kron::api
