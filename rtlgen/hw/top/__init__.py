"""The block that a system takes in: registers, interrupt and buses around a kernel."""
