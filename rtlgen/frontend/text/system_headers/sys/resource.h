#include <sys/time.h>
#define RUSAGE_SELF 0
struct rusage { struct timeval ru_utime; struct timeval ru_stime; long ru_maxrss; };
int getrusage(int who, struct rusage *usage);
