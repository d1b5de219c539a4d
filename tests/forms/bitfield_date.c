/* A date in sixteen bits. */
struct date { unsigned day : 5, month : 4, year : 7; };
int days(const struct date d[6])
{
  int sum = 0;
  for (int i = 0; i < 6; i++)
    sum += d[i].year * 365 + d[i].month * 30 + d[i].day;
  return sum;
}
