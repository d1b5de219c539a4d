void f(int a[64]) {
  for (int s = 0; s < 3; s++)
    for (int k = 0; k < 8; k++) {
      int half = 4 >> s;
      int position = k & (half - 1);
      a[position] += s;
    }
}
