/* Forces between particles, neighbours from a list. */
struct place { int x, y, z; };
void forces(const struct place at[24], const int neighbour[24 * 4], struct place force[24])
{
  for (int i = 0; i < 24; i++) {
    int fx = 0, fy = 0, fz = 0;
    for (int j = 0; j < 4; j++) {
      struct place other = at[neighbour[i * 4 + j]];
      int dx = at[i].x - other.x, dy = at[i].y - other.y, dz = at[i].z - other.z;
      int r = (dx ^ dy ^ dz) & 1023;
      fx += r * dx;
      fy += r * dy;
      fz += r * dz;
    }
    force[i] = (struct place){fx, fy, fz};
  }
}
