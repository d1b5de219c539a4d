// A change of colours by a constant matrix, rounded and cut to bytes.
#define N 8
static const short m[3][3] = {{66, 129, 25}, {-38, -74, 112}, {112, -94, -18}};
static const short offset[3] = {16, 128, 128};
static unsigned char byte(int x) { return x < 0 ? 0 : x > 255 ? 255 : (unsigned char)x; }
void colour_matrix(const unsigned char in[N][3], unsigned char out[N][3]) {
  for (int i = 0; i < N; i++)
    for (int c = 0; c < 3; c++) {
      int sum = 128;
      for (int k = 0; k < 3; k++)
        sum += m[c][k] * in[i][k];
      out[i][c] = byte((sum >> 8) + offset[c]);
    }
}
