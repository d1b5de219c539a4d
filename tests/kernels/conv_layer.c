// A layer of a network: channels of 3 x 3 convolutions, bias, ReLU and a shift.
#define IN 2
#define OUT 3
#define H 5
#define K 3
void conv_layer(const signed char x[IN][H][H], const signed char w[OUT][IN][K][K],
                const short bias[OUT], short y[OUT][H - K + 1][H - K + 1]) {
  for (int o = 0; o < OUT; o++)
    for (int r = 0; r <= H - K; r++)
      for (int c = 0; c <= H - K; c++) {
        int sum = bias[o];
        for (int i = 0; i < IN; i++)
          for (int kr = 0; kr < K; kr++)
            for (int kc = 0; kc < K; kc++)
              sum += x[i][r + kr][c + kc] * w[o][i][kr][kc];
        y[o][r][c] = sum > 0 ? sum >> 1 : sum / 64;
      }
}
