int out_of_order(int input[16]) {
  int sum = 0;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < i; j++)
      sum += input[i + j];
  return sum;
}
