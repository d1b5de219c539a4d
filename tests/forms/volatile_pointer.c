/* A port through a pointer. */
void send(const int data[8], volatile int *port)
{
  for (int i = 0; i < 8; i++)
    *port = *port * 31 + data[i];
}
