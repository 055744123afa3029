"""Renders the few constructs that the Helm chart may use, as helm does, and refuses every other."""

import json
import re
from pathlib import Path

import yaml

IF = re.compile(r"\s*\{\{- if \.Values\.([A-Za-z.]+) \}\}(.*?)\s*\{\{- end \}\}", re.DOTALL)
VALUE = re.compile(r"\{\{ (toJson )?\.(Values|Release)\.([A-Za-z.]+) \}\}")


def looked_up(values, path):
    for key in path.split("."):
        values = values[key]
    return values


def rendered(text, values, namespace):
    scope = {"Values": values, "Release": {"Namespace": namespace}}
    text = IF.sub(lambda found: found[2] if looked_up(values, found[1]) else "", text)

    def value(found):
        result = looked_up(scope[found[2]], found[3])
        return json.dumps(result) if found[1] else str(result)

    text = VALUE.sub(value, text)
    if "{{" in text:
        raise ValueError("not one of the constructs that a chart of ours may use: " + text[text.index("{{"):][:60])
    return text


def documents(directory, namespace="kron-system", **changes):
    """Every object of the chart with its own values, and `changes` in place of some of them."""
    values = {**yaml.safe_load((Path(directory) / "values.yaml").read_text(encoding="utf-8")), **changes}
    found = []
    for path in sorted((Path(directory) / "templates").glob("*.yaml")):
        text = rendered(path.read_text(encoding="utf-8"), values, namespace)
        found += [document for document in yaml.safe_load_all(text) if document]
    return found
