"""The public functions and what they return."""
