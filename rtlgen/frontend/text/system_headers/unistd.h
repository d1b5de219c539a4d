#include <stddef.h>
#include <sys/types.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0
#define _SC_PAGESIZE 30
#define _SC_NPROCESSORS_ONLN 84
ssize_t read(int file, void *target, size_t size);
ssize_t write(int file, const void *source, size_t size);
off_t lseek(int file, off_t offset, int origin);
int close(int file);
int access(const char *name, int mode);
int unlink(const char *name);
int isatty(int file);
int getopt(int count, char *const *arguments, const char *options);
unsigned int sleep(unsigned int seconds);
int usleep(unsigned int microseconds);
pid_t getpid(void);
pid_t fork(void);
long sysconf(int name);
void _exit(int status);
char *getcwd(char *target, size_t size);
