/* One way out for all errors. */
int set_up(const int request[4], int state[4])
{
  int status = -1;
  if (request[0] < 0)
    goto out;
  state[0] = request[0];
  status = -2;
  if (request[1] == request[0])
    goto out;
  state[1] = request[1];
  for (int i = 2; i < 4; i++) {
    status--;
    if (request[i] & 1)
      goto out;
    state[i] = request[i];
  }
  status = 0;
out:
  return status;
}
