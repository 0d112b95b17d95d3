"""JSON Schema without a second of start-up; import this before anything that imports jsonschema."""

from __future__ import annotations

import sys

# jsonschema looks for this optional package when it is imported, and building the package's grammar takes a
# second in every process. It checks the format of IRIs, which no schema here has. None means "not installed".
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from jsonschema import Draft202012Validator  # noqa: E402

__all__ = ["Draft202012Validator"]
