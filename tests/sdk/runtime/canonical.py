"""The canonical form of docs/runtime.md, written from its text: JSON values in, one a line; canonical texts out, as JSON strings."""

import json
import sys
from decimal import Decimal


def number(value):
    """As ECMAScript writes it: shortest digits, plain from 1e-6 to below 1e21."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent  # how many digits are before the point
    if 0 < point <= 21:
        plain = text.ljust(point, "0")
        out = plain[:point] + ("." + plain[point:] if plain[point:] else "")
    elif -6 < point <= 0:
        out = "0." + "0" * -point + text
    else:
        fraction = "." + text[1:] if text[1:] else ""
        out = f"{text[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return ("-" if sign else "") + out


def string(value):
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escaped = lambda c: c < " " or "\ud800" <= c <= "\udfff"
    return '"' + "".join(short.get(c) or (f"\\u{ord(c):04x}" if escaped(c) else c) for c in value) + '"'


def canonical(value):
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(string(key) + ":" + canonical(value[key]) for key in keys) + "}"


for line in sys.stdin:
    print(json.dumps(canonical(json.loads(line, parse_int=float))), flush=True)
