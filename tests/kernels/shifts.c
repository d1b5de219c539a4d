// Shifts of every kind: by constants, by variables, arithmetic and logical, of 64 bits.
#define N 24
void shifts(const int a[N], const unsigned b[N], const unsigned char by[N], int s[N], unsigned u[N],
            unsigned long long w[N]) {
  for (int i = 0; i < N; i++) {
    s[i] = (a[i] >> (by[i] & 31)) - (a[i] >> 4);
    u[i] = (b[i] << (by[i] % 32)) ^ (b[i] >> 7);
    w[i] = ((unsigned long long)b[i] << (by[i] & 63)) | (unsigned)a[i] >> 3;
  }
}
