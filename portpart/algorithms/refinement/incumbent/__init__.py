"""The best partition so far."""
