/* A graph is searched in breadth: each node is in the queue once, which the programmer knows. */
#include <assert.h>
int reach(const unsigned char edge[8][8], int level[8])
{
  int queue[8], head = 0, tail = 0;
  for (int i = 0; i < 8; i++)
    level[i] = -1;
  level[0] = 0;
  queue[tail++] = 0;
  for (int round = 0; round < 8 && head < tail; round++) {
    int from = queue[head++];
    assert(from >= 0 && from < 8);
    for (int to = 0; to < 8; to++)
      if ((edge[from][to] & 1) && level[to] < 0) {
        level[to] = level[from] + 1;
        assert(tail < 8);
        queue[tail++] = to;
      }
  }
  return tail;
}
