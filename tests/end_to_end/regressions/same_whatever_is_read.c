/* What `v` is set to is 0 for each of the two values of an element, and is used beside a read. */
_Bool v;
void same_whatever_is_read(const _Bool b[4][4], int l[5]) {
  for (int i = 0; i < 5; i++) {
    v = (-~b[i < 2 ? i : 2][(i + i) % 4]) / 3;
    l[i] ^= v;
  }
}
