void divergent(int output1[20], int output2[20]) {
  for (int i = 0; i < 8; i++) {
    if (i < 3) {
      for (int j = 0; j < 6; j++)
        output1[i + j] = i * j;
    } else {
      for (int j = 0; j < 6; j++)
        output2[i + j] = i * j;
    }
  }
}
