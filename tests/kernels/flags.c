// Conversions to bool, enumerations as states of a machine and as sizes.
#include <stdbool.h>
#define N 16
enum mode { OFF = -1, ON, FAST = 5 };
typedef enum { RED, GREEN, BLUE, COLOURS } colour;
static bool odd(int x) { return x & 1; }
static enum mode pick(int x) { return x > 1000000000 ? FAST : x < -5 ? OFF : ON; }
bool flags(const int a[N], const bool in[N], bool out[N], int seen[COLOURS][N], enum mode m[N]) {
  const bool table[4] = {true, false, 7, 0};
  bool any = false, all = true;
  enum mode now = ON;
  for (int i = 0; i < N; i++) {
    bool big = a[i] / 65536;
    now = now == FAST ? OFF : pick(a[i]);
    m[i] = now;
    out[i] = big && !in[i];
    out[i] ^= odd(a[i]);
    any |= a[i] & 6;
    all = all && a[i];
    for (colour c = RED; c < COLOURS; c++)
      seen[c][i] = a[i] / (c + 1) + (c - 3 > 0) + (m[i] < 0) * 4 + table[a[i] & 3] * 8;
  }
  return any && all;
}
