/* A temporary that every third iteration writes anew, in a cycle of statements. */
int kept_temporary(const int p[5]) {
  int last = 0;
  for (int i = 4; i > 0; i--) {
    for (int j = 1; j <= 1; j++) {
      int t = p[i] * 3;
      if (i % 3 == 1) t = !p[i];
      last = ~t;
    }
  }
  return last;
}
