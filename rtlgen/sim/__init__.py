"""How circuits are simulated: simulators, the benches of kernels, and the memories around them."""
