/* The kernel stands in another file. */
#define SIZE 9
#define ELEMENT int
#include "prefix_sums.h"
