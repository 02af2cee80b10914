"""Gate-level Verilog and the netlists in it."""
