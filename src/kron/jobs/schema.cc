#include "kron/jobs/schema.h"

#include <string>

#include "kron/jobs/option_schema.h"

namespace kron::jobs {
namespace {

std::string constraint_properties() {
  std::string text;
  for (const ConstraintKind& kind : constraint_kinds()) {
    text.append(text.empty() ? "" : ",").append("\n      \"").append(kind.word);
    text.append(R"(": {"description": ")").append(kind.about).append(R"(", "$ref": "#/$defs/clause"})");
  }
  return text;
}

std::string concurrency_words() {
  std::string text;
  for (const std::string_view name : concurrency_names()) {
    text.append(text.empty() ? "" : ", ").append("\"").append(name).append("\"");
  }
  return text;
}

}  // namespace

std::string_view job_file_schema() {
  static const std::string kSchema = R"schema({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://kron.io/schema/jobs.json",
  "title": "Kron job file",
  "type": "object",
  "additionalProperties": false,
  "required": ["jobs"],
  "properties": {
    "jobs": {"description": "The jobs of this file.", "type": "array",
      "items": {"allOf": [{"$ref": "#/$defs/job"}, {"required": ["name"]}]}},
    "defaults": {"description": "What jobs of this file take when they do not say it themselves. Maps such as policy and env are merged by key; only, avoid and distribution are taken whole.",
      "allOf": [{"$ref": "#/$defs/job"}, {"not": {"required": ["name"]}}]},
    "calendars": {"$ref": "#/$defs/calendars"},
    "pools": {"description": "How many slots each pool has. A pool is the host's: jobs of all files may name it.",
      "type": "object", "propertyNames": {"pattern": "^[a-z0-9]([a-z0-9._/-]*[a-z0-9])?$"},
      "additionalProperties": {"type": "integer", "minimum": 1, "maximum": 100000}}
  },
  "if": {"properties": {"defaults": {"anyOf": [{"required": ["command"]}, {"required": ["task"]}]}}, "required": ["defaults"]},
  "else": {"properties": {"jobs": {"items": {"oneOf": [{"required": ["command"]}, {"required": ["task"]}]}}}},
  "$defs": {
    "duration": {"description": "90s, 1h30m, 1.5h, 500ms; units ns us ms s m h d w", "type": "string",
      "pattern": "^(0|([0-9]*\\.?[0-9]+(w|d|h|ms|m|s|us|\u00b5s|ns))+)$"},
    "size": {"description": "Bytes, or with k, M, G, T (powers of 1024)", "type": ["string", "integer"],
      "pattern": "^[0-9]+[kKmMgGtT]?$", "minimum": 0},
    "scalar": {"type": ["string", "number", "boolean"]},
    "clause": {"oneOf": [{"type": ["string", "integer"]},
      {"type": "array", "minItems": 1, "items": {"type": ["string", "integer"]}}]},
    "calendars": {"description": "Named lists of dates, used by only and avoid: calendar.", "type": "object",
      "additionalProperties": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": false, "required": ["file"], "properties": {
          "file": {"description": "An .ics file with all-day events; relative to the job file.", "type": "string",
            "minLength": 1}}}]}},
    "constraints": {"type": "object", "additionalProperties": false, "properties": {)schema" +
                                     constraint_properties() + R"schema(}},
    "job": {"type": "object", "additionalProperties": false, "not": {"required": ["command", "task"]}, "properties": {
      "name": {"description": "The job's identity, unique over everything loaded.", "type": "string", "maxLength": 200,
        "pattern": "^[a-z0-9]([a-z0-9._/-]*[a-z0-9])?$"},
      "schedule": {"description": "A cron expression of 5 to 7 fields, @daily and the like, @every 90s, or @reboot.", "type": "string"},
      "timezone": {"description": "IANA name; UTC when absent.", "type": "string"},
      "dst": {"description": "What to do where the clock changes: gap=run|skip, overlap=first|second|both.", "type": "string",
        "pattern": "^ *(gap=(run|skip)|overlap=(first|second|both)) *(, *(gap=(run|skip)|overlap=(first|second|both)) *)?$"},
      "window": {"description": "Where the run may be placed; a duration alone is a window after the nominal time.",
        "oneOf": [{"$ref": "#/$defs/duration"}, {"type": "object", "additionalProperties": false, "required": ["duration"],
          "properties": {
            "mode": {"description": "Where the window lies; center is another word for around.",
              "enum": ["after", "before", "around", "center"]},
            "duration": {"$ref": "#/$defs/duration"}}}]},
      "distribution": {"description": "How runs spread over the window.", "oneOf": [
        {"$ref": "#/$defs/distributionName"},
        {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {
          "name": {"$ref": "#/$defs/distributionName"},
          "params": {"type": "object", "additionalProperties": false, "properties": {
            "shape": {"description": "skewEarly, skewLate: above 0, 2 when absent", "type": ["number", "string"]},
            "lambda": {"description": "exponential: above 0, 1 when absent", "type": ["number", "string"]},
            "dir": {"description": "exponential", "enum": ["early", "late"]},
            "mu": {"description": "normal: where the middle lies", "enum": ["nominal", "start", "mid", "end"]},
            "sigma": {"description": "normal: a sixth of the window when absent", "$ref": "#/$defs/duration"}}}}}]},
      "seed": {"description": "What the choice depends on beside the name.", "type": "object", "additionalProperties": false,
        "properties": {
          "strategy": {"description": "A new choice each period, day or week.", "enum": ["stable", "daily", "weekly"]},
          "salt": {"description": "Any text; another text gives other choices.", "type": "string"}}},
      "only": {"description": "Run only where all of these hold.", "$ref": "#/$defs/constraints"},
      "avoid": {"description": "Never run where one of these holds.", "$ref": "#/$defs/constraints"},
      "calendars": {"$ref": "#/$defs/calendars"},
      "policy": {"type": "object", "additionalProperties": false, "properties": {
        "concurrency": {"description": "When the job is due while it still runs.", "enum": [)schema" +
                                     concurrency_words() + R"schema(]},
        "deadline": {"description": "How late a run may start; whole seconds.", "$ref": "#/$defs/duration"},
        "suspend": {"description": "Nothing triggers and nothing is handled.", "type": "boolean"},
        "pauseAfter": {"description": "After so many failures of scheduled runs in a row the job is paused; 0 is never.",
          "type": ["integer", "string"], "pattern": "^[0-9]+$", "minimum": 0, "maximum": 1000},
        "catchUpSpread": {"description": "Periods that are found late start spread over this long; 0s: at once; absent: as krond's --catch-up-spread says.",
          "$ref": "#/$defs/duration"}}},
      "command": {"description": "The command, split like a shell splits words; a list is taken word by word.",
        "oneOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/scalar"}}]},
      "task": {"description": "Submit a task of this type instead of running a command.", "type": "string", "minLength": 1},)schema" +
                                     schema_of_options().properties("      ") + R"schema(
    }},
    "distributionName": {"enum": ["uniform", "skewEarly", "skewLate", "normal", "exponential"]}
  }
}
)schema";
  return kSchema;
}

}  // namespace kron::jobs
