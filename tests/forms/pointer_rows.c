/* A matrix by pointers to its rows. */
void add_rows(int m[6][8], const int v[8])
{
  for (int i = 0; i < 6; i++) {
    int *row = m[i];
    for (int j = 0; j < 8; j++)
      row[j] += v[j];
  }
}
