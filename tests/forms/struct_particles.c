/* Structures in structures, by pointer. */
struct vec { int x, y, z; };
struct particle { struct vec at, speed; unsigned char alive; };
static void move(struct particle *p, int dt)
{
  p->at.x += p->speed.x * dt;
  p->at.y += p->speed.y * dt;
  p->at.z += p->speed.z * dt;
  if (p->at.z < 0)
    p->alive = 0;
}
void step(struct particle all[10], int dt)
{
  for (int i = 0; i < 10; i++)
    if (all[i].alive)
      move(&all[i], dt);
}
