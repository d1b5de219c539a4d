/* Structures of two tables that a selector chooses, read and written */
struct entry { int key; short weight[2]; };
int update(struct entry hot[8], struct entry cold[8], const unsigned char access[30])
{
  int moved = 0;
  for (int i = 0; i < 30; i++) {
    struct entry *e = (access[i] & 128 ? hot : cold) + (access[i] & 7);
    e->weight[access[i] >> 6 & 1]++;
    if (e->key == access[i])
      moved += e->weight[0];
    else
      e->key = access[i];
  }
  return moved;
}
