"""The base of all other code: doors, signals, the version, the folder of compiled code."""
