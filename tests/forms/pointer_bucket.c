/* A pointer to the bucket that a key chooses, used several times. */
void count(const unsigned char key[20], int bucket[16])
{
  for (int i = 0; i < 20; i++) {
    int *b = &bucket[key[i] % 16];
    *b += 1;
    if (*b > 3)
      *b = i;
  }
}
