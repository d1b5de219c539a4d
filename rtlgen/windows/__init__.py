"""What a tile keeps on chip and what is moved for it: kernels, windows, movers, workers."""
