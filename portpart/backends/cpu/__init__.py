"""The CPU space: kernels compiled by LLVM, on one thread or many."""
