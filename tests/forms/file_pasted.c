/* A kernel that is made by a macro. */
#define NAME(type) scale_##type
#define SCALE(type) \
  void NAME(type)(type x[10], type gain) \
  { \
    for (int i = 0; i < 10; i++) \
      x[i] = x[i] * gain; \
  }
SCALE(short)
