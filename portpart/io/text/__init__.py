"""Bytes and text: files, packing, tokens, numbers, rules of reading."""
