// -D c_EXTENT=many
void f(int *c) {
  for (int i = 0; i < 8; i++)
    c[i] = 1;
}
