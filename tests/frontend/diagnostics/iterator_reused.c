void f(const int first[8], int b[8]) {
  int i;
  for (i = 0; i < 8; i++)
    for (i = first[i]; i < 8; i++)
      b[i] = 0;
}
