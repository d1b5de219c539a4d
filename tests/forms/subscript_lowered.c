/* The end comes down in the body. */
void drain(int heap[10], int out[10])
{
  int size = 10, n = 0;
  while (size > 0) {
    out[n++] = heap[0];
    size--;
    for (int i = 0; i < size; i++)
      heap[i] = heap[i + 1] ^ i;
  }
}
