"""A CRD as an API server applies it: defaults, pruning, the schema, and the CEL rules (cel.py)."""

import copy
from pathlib import Path

import jsonschema
import yaml

import cel


def load_all(path):
    return [document for document in yaml.safe_load_all(Path(path).read_text(encoding="utf-8")) if document]


class Crd:
    def __init__(self, path):
        self.object = load_all(path)[0]
        version = self.object["spec"]["versions"][0]
        self.columns = version["additionalPrinterColumns"]
        self.schema = version["schema"]["openAPIV3Schema"]

    def admitted(self, submitted):
        """(the object as it would be stored, why it is refused)"""
        stored = copy.deepcopy(submitted)
        prune(stored, self.schema, is_root=True)
        fill_in(stored, self.schema)
        return stored, list(self.problems(stored))

    def problems(self, stored):
        for error in jsonschema.Draft7Validator(self.schema).iter_errors(stored):
            yield ".".join(map(str, error.absolute_path)) + ": " + error.message
        yield from rule_problems(stored, self.schema, "")


def prune(value, schema, is_root=False):
    if isinstance(value, list):
        for item in value:
            prune(item, schema.get("items", {}))
    if not isinstance(value, dict):
        return
    known = schema.get("properties", {})
    for key in list(value):
        if is_root and key in ("apiVersion", "kind", "metadata"):
            continue
        if key in known:
            prune(value[key], known[key])
        elif "additionalProperties" in schema:
            prune(value[key], schema["additionalProperties"])
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            del value[key]


def fill_in(value, schema):
    if isinstance(value, list):
        for item in value:
            fill_in(item, schema.get("items", {}))
    if not isinstance(value, dict):
        return
    for key, member in schema.get("properties", {}).items():
        if key not in value and "default" in member:
            value[key] = copy.deepcopy(member["default"])
        if key in value:
            fill_in(value[key], member)


def rule_problems(value, schema, path):
    for one in schema.get("x-kubernetes-validations", []):
        rule_schema = schema
        if not path:
            rule_schema = {**schema, "properties": {**schema["properties"], "metadata": cel.METADATA}}
        if not cel.holds(one["rule"], value, rule_schema):
            yield f"{path}: {one['message']}"
    if isinstance(value, dict):
        for key, member in value.items():
            inner = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
            if inner:
                yield from rule_problems(member, inner, f"{path}.{key}".lstrip("."))
    if isinstance(value, list):
        for item in value:
            yield from rule_problems(item, schema.get("items", {}), path)


def leaves(schema, path=()):
    """The path of every field that holds a value; [] stands for an item of a list, * for any key of a map."""
    if schema.get("type") == "array":
        yield from leaves(schema["items"], (*path, "[]"))
    elif "additionalProperties" in schema:
        yield from leaves(schema["additionalProperties"], (*path, "*"))
    elif schema.get("properties"):
        for key, member in schema["properties"].items():
            yield from leaves(member, (*path, key))
    else:
        yield path


def rules(schema, path=()):
    """(path, rule, message) of every rule."""
    for one in schema.get("x-kubernetes-validations", []):
        yield path, one["rule"], one["message"]
    for key, member in schema.get("properties", {}).items():
        yield from rules(member, (*path, key))
