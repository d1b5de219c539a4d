int state;
void moving_scalar(int x[10], int y[10]) {
  for (int i = 0; i < 10; i++) {
    state = state * 31 + x[i];
    y[i] = state >> 4;
  }
}
