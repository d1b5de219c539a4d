"""What values and conditions are as functions of iterators: ranges, affine forms, cases."""
