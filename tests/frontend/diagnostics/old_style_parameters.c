int f(a) int a[8]; int spare; { return a[0]; }
