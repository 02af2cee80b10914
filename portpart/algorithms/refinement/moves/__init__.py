"""The partition, the moves of an iteration, and sums of weights and cost."""
