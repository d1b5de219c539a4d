void accum_swg(int a[40], int sum[8], int c[8]) {
  for (int k = 0; k < 8; k++) {
    sum[k] = 0;
    for (int i = 0; i < 5; i++)
      sum[k] += a[k * 5 + i];
    c[k] = sum[k];
  }
}
