"""Contracts as pydantic models: what a contract keeps, as objects with attributes.

    Report = model(guard.contract("Report"))
    report = contract.check(text)
    if report.valid:
        typed = Report.model_validate(report.values)

A model accepts what the JSON Schema of the contract accepts. It is strict: no value is coerced, no unknown member taken.
Times, durations and urls stay texts; items whose form is a JSON Schema of their own stay as they are.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model

from .. import Contract

__all__ = ["model"]

_CONFIG = ConfigDict(extra="forbid", strict=True, populate_by_name=True)
_BOUNDS = {"minimum": "ge", "maximum": "le", "maxLength": "max_length", "maxItems": "max_length", "maxProperties": "max_length"}


def model(contract: Contract, *, known: Mapping[str, Sequence[Any]] | None = None) -> type[BaseModel]:
    """The model of a contract's document. Members with a wire name that is no identifier get one, and keep the wire name
    as alias. A document that is a list or a scalar is a `RootModel`.

    `known` are the lists of the host that references may name, as in `Contract.schema`. Raises `GuardError`.
    """
    schema = contract.schema(known=known)
    models = _Models(schema.get("$defs", {}))
    if "properties" in schema:
        return models.record(contract.name, schema)
    return type(contract.name, (RootModel[models.type(schema)],), {"model_config": ConfigDict(strict=True)})


class _Models:
    """The models of one schema's records, each made once."""

    def __init__(self, defs):
        self.defs = defs
        self.made = {}

    def record(self, name, schema):
        fields = {}
        for member, of in schema["properties"].items():
            default = ... if member in schema["required"] else None
            field = Field(default, alias=member, description=of.get("description") if isinstance(of, dict) else None)
            fields[_identifier(member, fields)] = (self.type(of), field)
        return create_model(name, __config__=_CONFIG, **fields)

    def named(self, reference):
        key = reference.removeprefix("#/$defs/")
        if key not in self.made:
            schema = self.defs[key]
            name = schema["title"]
            if "anyOf" in schema:
                cases = [self.record(f"{name}{number}", case) for number, case in enumerate(schema["anyOf"], 1)]
                self.made[key] = Union[tuple(cases)]
            else:
                self.made[key] = self.record(name, schema)
        return self.made[key]

    def type(self, schema):
        if schema is True or "$id" in schema:
            return Any
        if "$ref" in schema:
            return self.named(schema["$ref"])
        if "enum" in schema:
            return Literal[tuple(schema["enum"])]
        if "anyOf" in schema:
            return Union[tuple(self.type(one) for one in schema["anyOf"])]
        bounds = {_BOUNDS[key]: bound for key, bound in schema.items() if key in _BOUNDS}
        of = self.plain(schema)
        for pattern in [schema.get("pattern"), *(one["pattern"] for one in schema.get("allOf", []))]:
            of = Annotated[of, Field(pattern=pattern)] if pattern else of
        return Annotated[of, Field(**bounds)] if bounds else of

    def plain(self, schema):
        match schema["type"]:
            case "object":
                names = schema.get("propertyNames", {}).get("maxLength")
                return dict[Annotated[str, Field(max_length=names)], self.type(schema["additionalProperties"])]
            case "array":
                return list[self.type(schema["items"])]
            case plain:
                return {"boolean": bool, "integer": int, "number": float, "string": str, "null": None}[plain]


def _identifier(member, taken):
    name = re.sub(r"\W", "_", member).lstrip("_") or "member"
    if name[0].isdigit():
        name = f"member_{name}"
    while keyword.iskeyword(name) or hasattr(BaseModel, name) or name.startswith("model_") or name in taken:
        name = f"member_{name}" if name.startswith("model_") else f"{name}_"
    return name
