/* A graph is searched in breadth, level by level, its edges in rows of any length. */
#include <stdint.h>
enum { SCALE = 3, NODES = 1 << SCALE, EDGES = NODES * 2, LEVELS = 4 };
typedef struct { uint64_t begin, end; } node;
typedef struct { uint64_t to; } edge;
void search(const node nodes[NODES], const edge edges[EDGES], uint64_t start,
            int8_t level[NODES], uint64_t found[LEVELS])
{
  level[start] = 0;
  found[0] = 1;
  for (int8_t horizon = 0; horizon + 1 < LEVELS; horizon++) {
    uint64_t count = 0;
    for (uint64_t n = 0; n < NODES; n++) {
      if (level[n] == horizon) {
        uint64_t from = nodes[n].begin, behind = nodes[n].end;
        for (uint64_t e = from; e < behind; e++) {
          uint64_t to = edges[e].to;
          if (level[to] == INT8_MAX) {
            level[to] = horizon + 1;
            ++count;
          }
        }
      }
    }
    if ((found[horizon + 1] = count) == 0)
      break;
  }
}
