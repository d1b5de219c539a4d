/* The fields of one of many structures, which an index of data chooses. */
struct account { int balance, moves; };
static void move(struct account *to, int sum)
{
  to->balance += sum;
  to->moves++;
}
int book(struct account accounts[8], const unsigned char number[12], const int sum[12])
{
  int largest = 0;
  for (int i = 0; i < 12; i++) {
    struct account *a = &accounts[number[i] & 7];
    move(a, sum[i]);
    if (a->balance > largest)
      largest = a->balance;
  }
  return largest;
}
