"""What happens to the Verilog afterwards: synthesis, place and route."""
