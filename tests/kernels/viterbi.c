// The cheapest path through a trellis, in the min-plus algebra.
#define STEPS 7
#define STATES 4
void viterbi(unsigned cost[STEPS][STATES], const unsigned short step[STATES][STATES],
             const unsigned short seen[STEPS][STATES]) {
  for (int s = 0; s < STATES; s++)
    cost[0][s] = seen[0][s];
  for (int t = 1; t < STEPS; t++)
    for (int to = 0; to < STATES; to++) {
      unsigned best = cost[t - 1][0] + step[0][to];
      for (int from = 1; from < STATES; from++) {
        unsigned p = cost[t - 1][from] + step[from][to];
        if (p < best)
          best = p;
      }
      cost[t][to] = best + seen[t][to];
    }
}
