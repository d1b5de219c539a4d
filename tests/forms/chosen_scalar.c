/* Votes for one of two candidates, by the address of their counts */
int votes(const signed char ballots[50], int *margin)
{
  int yes = 0, no = 0;
  for (int i = 0; i < 50; i++) {
    int *count = ballots[i] > 0 ? &yes : &no;
    *count += ballots[i] > 0 ? ballots[i] : -ballots[i];
  }
  *margin = *(yes > no ? &yes : &no);
  return yes > no;
}
