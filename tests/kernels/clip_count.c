// Saturates to 7 bits and counts how often that was needed.
#define N 24
int clip_count(short a[N]) {
  int clipped = 0;
  for (int i = 0; i < N; i++) {
    if (a[i] > 63) {
      a[i] = 63;
      clipped++;
    } else if (a[i] < -64) {
      a[i] = -64;
      clipped++;
    }
  }
  return clipped;
}
