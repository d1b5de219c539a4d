/* Fields that wrap, with a sign and without. */
struct counters { unsigned ticks : 4; int balance : 6; };
void count(struct counters *c, const signed char step[20])
{
  for (int i = 0; i < 20; i++) {
    c->ticks++;
    c->balance += step[i];
  }
}
