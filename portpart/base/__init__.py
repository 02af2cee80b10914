"""What everything else stands on: doors, signals, the version, the folder of compiled code."""
