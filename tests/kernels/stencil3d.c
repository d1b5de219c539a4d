// A 7-point stencil in three dimensions; a macro makes the index.
#define D 5
#define AT(_x, _y, _z) ((_x) + D * ((_y) + D * (_z)))
void stencil3d(const int c[2], const int orig[D * D * D], int sol[D * D * D]) {
  int x, y, z;
  for (y = 0; y < D; y++)
    for (x = 0; x < D; x++) {
      sol[AT(x, y, 0)] = orig[AT(x, y, 0)];
      sol[AT(x, y, D - 1)] = orig[AT(x, y, D - 1)];
    }
  for (z = 1; z < D - 1; z++)
    for (y = 1; y < D - 1; y++)
      for (x = 1; x < D - 1; x++) {
        int around = orig[AT(x, y, z + 1)] + orig[AT(x, y, z - 1)] + orig[AT(x, y + 1, z)] +
                     orig[AT(x, y - 1, z)] + orig[AT(x + 1, y, z)] + orig[AT(x - 1, y, z)];
        sol[AT(x, y, z)] = orig[AT(x, y, z)] * c[0] + around * c[1];
      }
}
