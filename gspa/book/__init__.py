"""From notebooks to a site, and from many settings to a table; knows no page and no theory."""

import sys

# jsonschema looks for this optional package when it is imported, and building the package's grammar takes a second in
# every process. It checks the format of IRIs, which no schema here has. None means "not installed".
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
