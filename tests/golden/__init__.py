"""Partitions that every machine and every device must reproduce, kept as digests."""
