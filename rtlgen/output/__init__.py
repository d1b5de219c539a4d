"""What a build writes: the Verilog, its test bench, and the directory that holds them."""
