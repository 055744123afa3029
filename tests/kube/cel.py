"""The part of CEL that the rules of our CRD use, evaluated as its specification says: a second implementation, so that a
rule is tried without a server that knows rules. What it does not know it refuses.

    holds(rule, value, schema) -> bool     raises CelError: the rule does not compile, or failed while it was evaluated
"""

import re

TOKEN = re.compile(r"""\s*(?:(?P<number>[0-9]+)|(?P<text>'[^'\\]*'|"[^"\\]*")|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"""
                   r"""|(?P<sign>&&|\|\||==|!=|<=|>=|[!<>()\[\].,]))""")
COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in"}
MACROS = {"all": all, "exists": any}
# What a rule may see of the metadata, which no schema describes.
METADATA = {"type": "object", "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}}}


class CelError(Exception):
    pass


def tokens_of(text):
    tokens = []
    at = 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if not found:
            raise CelError(f"cannot read {text[at:]!r}")
        tokens.append((found.lastgroup, found[found.lastgroup]))
        at = found.end()
    return tokens


class Parser:
    """Makes a tree of tuples: (kind, parts…)."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.at = 0

    def whole(self):
        tree = self.disjunction()
        if self.at != len(self.tokens):
            raise CelError(f"did not expect {self.tokens[self.at][1]!r}")
        return tree

    def peek(self):
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def take(self, expected=None):
        if self.peek() is None or (expected is not None and self.peek() != expected):
            raise CelError(f"expected {expected or 'more'}, not {self.peek()!r}")
        self.at += 1
        return self.tokens[self.at - 1]

    def chain(self, sign, part):
        tree = part()
        while self.peek() == sign:
            self.take()
            tree = (sign, tree, part())
        return tree

    def disjunction(self):
        return self.chain("||", self.conjunction)

    def conjunction(self):
        return self.chain("&&", self.comparison)

    def comparison(self):
        left = self.unary()
        if self.peek() in COMPARISONS:
            return (self.take()[1], left, self.unary())
        return left

    def unary(self):
        if self.peek() == "!":
            self.take()
            return ("!", self.unary())
        return self.member()

    def arguments(self, end=")"):
        found = []
        while self.peek() != end:
            found.append(self.disjunction())
            if self.peek() == ",":
                self.take()
        self.take(end)
        return found

    def member(self):
        tree = self.primary()
        while self.peek() == ".":
            self.take()
            kind, name = self.take()
            if kind != "name":
                raise CelError(f"expected a name, not {name!r}")
            if self.peek() == "(":
                self.take()
                tree = ("method", tree, name, self.arguments())
            else:
                tree = ("select", tree, name)
        return tree

    def primary(self):
        kind, text = self.take()
        if kind == "number":
            return ("literal", int(text))
        if kind == "text":
            return ("literal", text[1:-1])
        if text == "(":
            tree = self.disjunction()
            self.take(")")
            return tree
        if text == "[":
            return ("list", self.arguments("]"))
        if kind != "name":
            raise CelError(f"did not expect {text!r}")
        if self.peek() == "(":
            self.take()
            return ("call", text, self.arguments())
        return ("literal", text == "true") if text in ("true", "false") else ("name", text)


def schema_of(tree, names):
    """The schema of what a tree of selections stands for; None: not known. A field that no schema has is an error, as it is
    when a server compiles the rule."""
    if tree[0] == "name":
        if tree[1] not in names:
            raise CelError(f"undeclared reference to {tree[1]!r}")
        return names[tree[1]]
    if tree[0] != "select":
        return None
    schema = schema_of(tree[1], names)
    if schema is None:
        return None
    known = schema.get("properties", {})
    if tree[2] not in known:
        raise CelError(f"undefined field {tree[2]!r}")
    return known[tree[2]]


def check(tree, names):
    kind = tree[0]
    if kind in ("name", "select"):
        schema_of(tree, names)
    elif kind == "method" and tree[2] in MACROS:
        check(tree[1], names)
        collection = schema_of(tree[1], names)
        if collection is None or collection["type"] == "object" and "additionalProperties" not in collection:
            raise CelError(f"{tree[2]} is for lists and maps")
        element = collection.get("items") if collection["type"] == "array" else {"type": "string"}
        check(tree[3][1], {**names, tree[3][0][1]: element})
    elif kind == "method":
        for part in (tree[1], *tree[3]):
            check(part, names)
    elif kind in ("call", "list"):
        for part in tree[-1]:
            check(part, names)
    elif kind != "literal":
        for part in tree[1:]:
            check(part, names)


def evaluate(tree, names):
    kind = tree[0]
    if kind == "literal":
        return tree[1]
    if kind == "name":
        return names[tree[1]]
    if kind == "list":
        return [evaluate(part, names) for part in tree[1]]
    if kind == "select":
        value = evaluate(tree[1], names)
        if tree[2] not in value:
            raise CelError(f"no such key: {tree[2]}")
        return value[tree[2]]
    if kind == "!":
        return not evaluate(tree[1], names)
    if kind in ("||", "&&"):
        return logical(kind == "||", tree[1:], names)
    if kind == "call":
        return call(tree[1], tree[2], names)
    if kind == "method":
        return method(tree, names)
    left, right = (evaluate(part, names) for part in tree[1:])
    return {"==": lambda: left == right, "!=": lambda: left != right, "<": lambda: left < right,
            "<=": lambda: left <= right, ">": lambda: left > right, ">=": lambda: left >= right,
            "in": lambda: left in right}[kind]()


def logical(decisive, parts, names):
    """One side that decides is enough, whichever it is, even when the other fails."""
    error = None
    for part in parts:
        try:
            if evaluate(part, names) is decisive:
                return decisive
        except CelError as failed:
            error = failed
    if error:
        raise error
    return not decisive


def call(name, arguments, names):
    if name == "size" and len(arguments) == 1:
        return len(evaluate(arguments[0], names))
    if name == "has" and len(arguments) == 1 and arguments[0][0] == "select":
        return arguments[0][2] in evaluate(arguments[0][1], names)
    raise CelError(f"unknown function {name}")


def method(tree, names):
    value = evaluate(tree[1], names)
    if tree[2] in MACROS and len(tree[3]) == 2 and tree[3][0][0] == "name":
        return MACROS[tree[2]](evaluate(tree[3][1], {**names, tree[3][0][1]: item}) for item in value)
    if tree[2] == "startsWith" and len(tree[3]) == 1:
        return value.startswith(evaluate(tree[3][0], names))
    raise CelError(f"unknown method {tree[2]}")


def holds(rule, value, schema):
    tree = Parser(rule).whole()
    check(tree, {"self": schema})
    result = evaluate(tree, {"self": value})
    if not isinstance(result, bool):
        raise CelError("a rule must be true or false")
    return result
