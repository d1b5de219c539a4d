void f(int a[4096]) {
  for (int s = 0; s < 40; s++)
    for (int k = 0; k < 40; k++) {
      int half = s * k * 0.3f;
      int bound = half ^ (half / 2);
      for (int j = 0; j < bound; j++)
        a[s] += j;
    }
}
