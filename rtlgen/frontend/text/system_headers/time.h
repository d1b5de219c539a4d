#include <stddef.h>
#define CLOCKS_PER_SEC ((clock_t)1000000)
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define TIME_UTC 1
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
struct timespec { time_t tv_sec; long tv_nsec; };
struct tm { int tm_sec; int tm_min; int tm_hour; int tm_mday; int tm_mon; int tm_year; int tm_wday; int tm_yday; int tm_isdst; };
time_t time(time_t *now);
clock_t clock(void);
double difftime(time_t end, time_t start);
time_t mktime(struct tm *when);
struct tm *localtime(const time_t *when);
struct tm *gmtime(const time_t *when);
char *ctime(const time_t *when);
char *asctime(const struct tm *when);
size_t strftime(char *target, size_t size, const char *format, const struct tm *when);
int clock_gettime(clockid_t clock, struct timespec *now);
int clock_getres(clockid_t clock, struct timespec *resolution);
int nanosleep(const struct timespec *wanted, struct timespec *left);
