#pragma once

#include "kron/core/evaluate.h"
#include "kron/json/writer.h"

namespace kron {

// The answer of `kron evaluate`: {"action","until","periodId","chosenTime","outcome","reason"}.
void write_evaluation(JsonWriter& json, const Evaluation& evaluation);

}  // namespace kron
