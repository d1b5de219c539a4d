// A cellular automaton; each row from the one before.
#define N 16
#define ROWS 6
void rule30(unsigned char cell[ROWS][N + 2]) {
  for (int t = 1; t < ROWS; t++)
    for (int i = 1; i <= N; i++)
      cell[t][i] = (cell[t - 1][i - 1] ^ (cell[t - 1][i] | cell[t - 1][i + 1])) & 1;
}
