/* Numbers in a line of text. */
int numbers(const char line[24], int *total)
{
  int i = 0, count = 0, value = 0, inside = 0;
  *total = 0;
  while (i < 24) {
    char c = line[i++];
    if (c < '0' || c > '9') {
      if (inside)
        *total += value;
      inside = 0;
      value = 0;
      continue;
    }
    count += !inside;
    inside = 1;
    value = value * 10 + (c - '0');
  }
  return count;
}
