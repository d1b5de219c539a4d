/* VGG-19, scaled down: 16 convolutions of 3x3 with ReLU, 5 max poolings of 2x2 between them, and 3
   fully connected layers. Channels and neurons are 1/64 of the original's, times WIDTH; the image has
   32 lines instead of 224. Fixed point, with FRACTION bits behind the point. */

#ifndef WIDTH
#define WIDTH 1
#endif
#define FRACTION 8

#define C0 3
#define C1 (1 * WIDTH)
#define C2 (2 * WIDTH)
#define C3 (4 * WIDTH)
#define C4 (8 * WIDTH)
#define C5 (8 * WIDTH)
#define DENSE (64 * WIDTH)
#define CLASSES (16 * WIDTH)

#define H1 32
#define H2 16
#define H3 8
#define H4 4
#define H5 2
#define H6 1

#define RELU(x) ((x) > 0 ? (x) >> FRACTION : 0)
#define LARGER(x, y) ((x) > (y) ? (x) : (y))

/* Pixel (Y, X) of an image of H lines, and 0 around the image. */
#define PIXEL(IMAGE, H, Y, X) ((Y) >= 0 && (Y) < (H) && (X) >= 0 && (X) < (H) ? IMAGE[Y][X] : 0)

/* Layer N: from I images to O images of H lines. */
#define CONVOLVE(N, I, O, H, FROM, TO)                                                             \
  for (int o = 0; o < O; o++)                                                                      \
    for (int y = 0; y < H; y++)                                                                    \
      for (int x = 0; x < H; x++) {                                                                \
        sum##N[o][y][x] = bias##N[o];                                                              \
        for (int i = 0; i < I; i++)                                                                \
          for (int dy = 0; dy < 3; dy++)                                                           \
            for (int dx = 0; dx < 3; dx++)                                                         \
              sum##N[o][y][x] +=                                                                   \
                weight##N[o][i][dy][dx] * PIXEL(FROM[i], H, y + dy - 1, x + dx - 1);               \
        TO[o][y][x] = RELU(sum##N[o][y][x]);                                                       \
      }

/* From images of 2H lines to images of H lines. */
#define POOL(C, H, FROM, TO)                                                                       \
  for (int c = 0; c < C; c++)                                                                      \
    for (int y = 0; y < H; y++)                                                                    \
      for (int x = 0; x < H; x++)                                                                  \
        TO[c][y][x] =                                                                              \
          LARGER(LARGER(FROM[c][2 * y][2 * x], FROM[c][2 * y][2 * x + 1]),                         \
                 LARGER(FROM[c][2 * y + 1][2 * x], FROM[c][2 * y + 1][2 * x + 1]));

/* Layer N: fully connected; FROM is an element of the input, in i. */
#define CONNECT(N, I, O, FROM, TO)                                                                 \
  for (int o = 0; o < O; o++) {                                                                    \
    sum##N[o] = bias##N[o];                                                                        \
    for (int i = 0; i < I; i++)                                                                    \
      sum##N[o] += weight##N[o][i] * FROM;                                                         \
    TO[o] = RELU(sum##N[o]);                                                                       \
  }

#define LAYER(N, I, O) short weight##N[O][I][3][3], bias##N[O];
#define DENSE_LAYER(N, I, O) short weight##N[O][I], bias##N[O];

LAYER(1, C0, C1)
LAYER(2, C1, C1)
LAYER(3, C1, C2)
LAYER(4, C2, C2)
LAYER(5, C2, C3)
LAYER(6, C3, C3)
LAYER(7, C3, C3)
LAYER(8, C3, C3)
LAYER(9, C3, C4)
LAYER(10, C4, C4)
LAYER(11, C4, C4)
LAYER(12, C4, C4)
LAYER(13, C4, C5)
LAYER(14, C5, C5)
LAYER(15, C5, C5)
LAYER(16, C5, C5)
DENSE_LAYER(17, C5, DENSE)
DENSE_LAYER(18, DENSE, DENSE)
DENSE_LAYER(19, DENSE, CLASSES)

void vgg(short image[C0][H1][H1], short scores[CLASSES])
{
  short out1[C1][H1][H1], out2[C1][H1][H1], pool1[C1][H2][H2];
  short out3[C2][H2][H2], out4[C2][H2][H2], pool2[C2][H3][H3];
  short out5[C3][H3][H3], out6[C3][H3][H3], out7[C3][H3][H3], out8[C3][H3][H3], pool3[C3][H4][H4];
  short out9[C4][H4][H4], out10[C4][H4][H4], out11[C4][H4][H4], out12[C4][H4][H4];
  short pool4[C4][H5][H5];
  short out13[C5][H5][H5], out14[C5][H5][H5], out15[C5][H5][H5], out16[C5][H5][H5];
  short pool5[C5][H6][H6], out17[DENSE], out18[DENSE];
  int sum1[C1][H1][H1], sum2[C1][H1][H1], sum3[C2][H2][H2], sum4[C2][H2][H2];
  int sum5[C3][H3][H3], sum6[C3][H3][H3], sum7[C3][H3][H3], sum8[C3][H3][H3];
  int sum9[C4][H4][H4], sum10[C4][H4][H4], sum11[C4][H4][H4], sum12[C4][H4][H4];
  int sum13[C5][H5][H5], sum14[C5][H5][H5], sum15[C5][H5][H5], sum16[C5][H5][H5];
  int sum17[DENSE], sum18[DENSE], sum19[CLASSES];

#pragma scop
  CONVOLVE(1, C0, C1, H1, image, out1)
  CONVOLVE(2, C1, C1, H1, out1, out2)
  POOL(C1, H2, out2, pool1)

  CONVOLVE(3, C1, C2, H2, pool1, out3)
  CONVOLVE(4, C2, C2, H2, out3, out4)
  POOL(C2, H3, out4, pool2)

  CONVOLVE(5, C2, C3, H3, pool2, out5)
  CONVOLVE(6, C3, C3, H3, out5, out6)
  CONVOLVE(7, C3, C3, H3, out6, out7)
  CONVOLVE(8, C3, C3, H3, out7, out8)
  POOL(C3, H4, out8, pool3)

  CONVOLVE(9, C3, C4, H4, pool3, out9)
  CONVOLVE(10, C4, C4, H4, out9, out10)
  CONVOLVE(11, C4, C4, H4, out10, out11)
  CONVOLVE(12, C4, C4, H4, out11, out12)
  POOL(C4, H5, out12, pool4)

  CONVOLVE(13, C4, C5, H5, pool4, out13)
  CONVOLVE(14, C5, C5, H5, out13, out14)
  CONVOLVE(15, C5, C5, H5, out14, out15)
  CONVOLVE(16, C5, C5, H5, out15, out16)
  POOL(C5, H6, out16, pool5)

  CONNECT(17, C5, DENSE, pool5[i][0][0], out17)
  CONNECT(18, DENSE, DENSE, out17[i], out18)
  CONNECT(19, DENSE, CLASSES, out18[i], scores)
#pragma endscop
}
