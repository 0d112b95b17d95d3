"""The form "Change the numbers" of a notebook's page, made from its schema."""

from __future__ import annotations

import json
from typing import Any

from gspa.book.fill import fill
from gspa.book.parameters import PROFILES, Notebook, allowed, command, written


def html(notebook: Notebook, profile: str) -> str:
    """The form, with the defaults of a profile."""
    usual = {name: notebook.defaults(name) for name in PROFILES}
    fields = [
        {
            "name": name,
            "about": entry.get("description", ""),
            "allowed": allowed(entry),
            "fixed": entry.get("fixed", False),
            "options": entry.get("enum", []),
            "limits": _limits(entry),
            "defaults": {one: written(values[name]) for one, values in usual.items()},
        }
        for name, entry in notebook.properties.items()
    ]
    for one in fields:
        if one["name"] == "profile":  # the form's own default is the site's
            one["defaults"] = dict.fromkeys(PROFILES, profile)
    return fill(
        "bench_panel.html",
        page=notebook.name,
        profile=profile,
        fields=fields,
        ordered=json.dumps(notebook.schema.get("ordered", [])),
        command=command(notebook, notebook.defaults(profile)),
    )


def _limits(entry: dict[str, Any]) -> dict[str, Any]:
    """An input's attributes; what HTML cannot say is under data-, for the script."""
    kind = entry["type"]
    if kind == "boolean":
        return {"type": "checkbox"}
    if kind == "array":
        return {
            "type": "text",
            "data-list": entry["items"]["type"],
            **_data(entry["items"]),
            **_data(entry),
            "required": "",
        }
    if kind in ("number", "integer"):
        own = {
            "min": entry.get("minimum", entry.get("exclusiveMinimum")),
            "max": entry.get("maximum", entry.get("exclusiveMaximum")),
        }
        limits = {key: value for key, value in own.items() if value is not None}
        return {"type": "number", "step": 1 if kind == "integer" else "any", **limits, **_data(entry), "required": ""}
    return {"type": "text", "required": ""}


_KEYS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "uniqueItems")


def _data(entry: dict[str, Any]) -> dict[str, Any]:
    """Limits as attributes: data-minimum and so on."""
    return {f"data-{key.lower()}": str(entry[key]).lower() for key in _KEYS if key in entry}
