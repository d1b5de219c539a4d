#include <stddef.h>
#include <stdarg.h>
#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define L_tmpnam 20
#define TMP_MAX 238328
typedef struct _IO_FILE FILE;
typedef struct { long position; } fpos_t;
typedef long ssize_t;
typedef long off_t;
extern FILE *stdin;
extern FILE *stdout;
extern FILE *stderr;
int printf(const char *format, ...);
int fprintf(FILE *stream, const char *format, ...);
int sprintf(char *target, const char *format, ...);
int snprintf(char *target, size_t size, const char *format, ...);
int vprintf(const char *format, va_list arguments);
int vfprintf(FILE *stream, const char *format, va_list arguments);
int vsprintf(char *target, const char *format, va_list arguments);
int vsnprintf(char *target, size_t size, const char *format, va_list arguments);
int dprintf(int file, const char *format, ...);
int scanf(const char *format, ...);
int fscanf(FILE *stream, const char *format, ...);
int sscanf(const char *text, const char *format, ...);
int puts(const char *text);
int fputs(const char *text, FILE *stream);
int putchar(int c);
int putc(int c, FILE *stream);
int fputc(int c, FILE *stream);
int getchar(void);
int getc(FILE *stream);
int fgetc(FILE *stream);
int ungetc(int c, FILE *stream);
char *fgets(char *target, int size, FILE *stream);
FILE *fopen(const char *name, const char *mode);
FILE *freopen(const char *name, const char *mode, FILE *stream);
FILE *fdopen(int file, const char *mode);
FILE *tmpfile(void);
int fileno(FILE *stream);
int fclose(FILE *stream);
int fflush(FILE *stream);
size_t fread(void *target, size_t size, size_t count, FILE *stream);
size_t fwrite(const void *source, size_t size, size_t count, FILE *stream);
int fseek(FILE *stream, long offset, int origin);
long ftell(FILE *stream);
void rewind(FILE *stream);
int feof(FILE *stream);
int ferror(FILE *stream);
void clearerr(FILE *stream);
void perror(const char *text);
int setvbuf(FILE *stream, char *buffer, int mode, size_t size);
void setbuf(FILE *stream, char *buffer);
int remove(const char *name);
int rename(const char *before, const char *after);
ssize_t getline(char **line, size_t *size, FILE *stream);
FILE *popen(const char *command, const char *mode);
int pclose(FILE *stream);
