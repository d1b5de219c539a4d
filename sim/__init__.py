"""What is simulated but never synthesised: simulators, their set-up, and bench modules."""
