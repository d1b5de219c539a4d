// Saturates to 15 bits and counts how often that was needed.
#define N 48
int clip_count(short a[N]) {
  int clipped = 0;
  for (int i = 0; i < N; i++) {
    if (a[i] > 16383) {
      a[i] = 16383;
      clipped++;
    } else if (a[i] < -16384) {
      a[i] = -16384;
      clipped++;
    }
  }
  return clipped;
}
