/* Discrete cosine transform (DCT-II) of 8x8 blocks, in place: X = T * X * T', where row u of T is
   c(u) * cos((2x + 1) * u * pi / 16) in 1/8192, c(0) = sqrt(1/8), c(u) = 1/2. */

#ifndef BLOCKS
#define BLOCKS 8
#endif
#define SIZE 8
#define SHIFT 13
#define HALF (1 << (SHIFT - 1))

const short T[SIZE][SIZE] = {
  {2896, 2896, 2896, 2896, 2896, 2896, 2896, 2896},
  {4017, 3406, 2276, 799, -799, -2276, -3406, -4017},
  {3784, 1567, -1567, -3784, -3784, -1567, 1567, 3784},
  {3406, -799, -4017, -2276, 2276, 4017, 799, -3406},
  {2896, -2896, -2896, 2896, 2896, -2896, -2896, 2896},
  {2276, -4017, 799, 3406, -3406, -799, 4017, -2276},
  {1567, -3784, 3784, -1567, -1567, 3784, -3784, 1567},
  {799, -2276, 3406, -4017, 4017, -3406, 2276, -799},
};

void dct(short X[BLOCKS][SIZE][SIZE])
{
  int columns[BLOCKS][SIZE][SIZE];
  int rows[BLOCKS][SIZE][SIZE];

#pragma scop
  for (int n = 0; n < BLOCKS; n++)
    for (int u = 0; u < SIZE; u++)
      for (int x = 0; x < SIZE; x++) {
        columns[n][u][x] = HALF;
        for (int y = 0; y < SIZE; y++)
          columns[n][u][x] += T[u][y] * X[n][y][x];
      }
  for (int n = 0; n < BLOCKS; n++)
    for (int u = 0; u < SIZE; u++)
      for (int v = 0; v < SIZE; v++) {
        rows[n][u][v] = HALF;
        for (int x = 0; x < SIZE; x++)
          rows[n][u][v] += T[v][x] * (columns[n][u][x] >> SHIFT);
        X[n][u][v] = rows[n][u][v] >> SHIFT;
      }
#pragma endscop
}
