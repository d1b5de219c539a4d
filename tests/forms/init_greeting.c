/* A string that is copied and changed. */
int greet(const char name[6], char out[16])
{
  char line[16] = "Hello, ......!";
  for (int i = 0; i < 6; i++)
    line[7 + i] = name[i];
  for (int i = 0; i < 16; i++)
    out[i] = line[i];
  return sizeof line;
}
