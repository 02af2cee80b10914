"""Drop-in replacements for the calls of other graph partitioners."""
