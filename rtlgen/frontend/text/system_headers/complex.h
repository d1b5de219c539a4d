#define complex _Complex
#define _Complex_I 1.0
#define I _Complex_I
double cabs(double _Complex z);
double creal(double _Complex z);
double cimag(double _Complex z);
double carg(double _Complex z);
double _Complex cexp(double _Complex z);
double _Complex conj(double _Complex z);
double _Complex csqrt(double _Complex z);
float cabsf(float _Complex z);
float crealf(float _Complex z);
float cimagf(float _Complex z);
