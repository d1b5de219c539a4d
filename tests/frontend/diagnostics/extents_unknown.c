int f(const int *place, const short *table, int *out, const unsigned char *code) {
  int s = 0;
  for (int i = 0; i < 16; i++) {
    s += table[place[i]] + table[code[i]];
    out[place[i] + 1] = s;
  }
  return s;
}
