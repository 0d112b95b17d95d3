"""One module a notebook: its tables, figures and checks."""
