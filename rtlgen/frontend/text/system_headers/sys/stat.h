#include <sys/types.h>
int mkdir(const char *name, mode_t mode);
int chmod(const char *name, mode_t mode);
