// Remainders of iterators: loops that step over what does not run.
int third[64], fourth[64], even[64], odd[64], red[20][20], lattice[20][20];
int backwards[64], unsigned_steps[64];

void strides(const int in[64]) {
  for (int i = 0; i < 64; i++) {
    if (i % 3 == 1)
      third[i] = in[i] * 3 - third[i];
    if ((i & 3) == 0)
      fourth[i] = in[i] + i;
    if (i % 2)
      odd[i] = in[i] ^ i;
    else
      even[i] = in[i] - i;
  }
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++) {
      if ((i + j) % 2 == 0)
        red[i][j] = red[i][j] * 3 + in[i];
      if ((2 * i + 3 * j) % 4 == 3 && i % 6 == 2)
        lattice[i][j] = lattice[i][j] * 7 + in[j];
    }
  for (int i = 60; i >= 2; i -= 2)
    if (1 == i % 5)
      backwards[i] += in[i];
  for (unsigned i = 3; i < 64u; i += 3)
    if (!(i & 1u))
      unsigned_steps[i] = in[i] * 5;
}
