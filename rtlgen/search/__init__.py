"""What is decided by plans of the whole program: lanes within DSP blocks, arrays within RAM."""
