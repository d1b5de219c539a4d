/* Structures that change places. */
struct entry { unsigned key; int value; };
void sort(struct entry e[6])
{
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 5 - i; j++)
      if (e[j].key > e[j + 1].key) {
        struct entry held = e[j];
        e[j] = e[j + 1];
        e[j + 1] = held;
      }
}
