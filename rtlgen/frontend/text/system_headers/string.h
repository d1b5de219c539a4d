#include <stddef.h>
void *memcpy(void *target, const void *source, size_t size);
void *memmove(void *target, const void *source, size_t size);
void *memset(void *target, int value, size_t size);
static int memcmp(const void *left, const void *right, size_t size) { int order = 0; for (size_t k = 0; k < size && order == 0; k++) order = (unsigned char)left[k] - (unsigned char)right[k]; return order; }
static void *memchr(const void *memory, int c, size_t size) { for (size_t k = 0; k < size; k++) if ((unsigned char)memory[k] == (unsigned char)c) return memory + k; return 0; }
static size_t strlen(const char *text) { size_t n = 0; while (text[n] != 0) n++; return n; }
static size_t strnlen(const char *text, size_t size) { size_t n = 0; while (n < size && text[n] != 0) n++; return n; }
static char *strcpy(char *target, const char *source) { for (size_t n = 0;; n++) { target[n] = source[n]; if (source[n] == 0) break; } return target; }
static char *strncpy(char *target, const char *source, size_t size) { int ended = 0; for (size_t n = 0; n < size; n++) { if (!ended && source[n] == 0) ended = 1; target[n] = ended ? 0 : source[n]; } return target; }
char *strcat(char *target, const char *source);
char *strncat(char *target, const char *source, size_t size);
static int strcmp(const char *left, const char *right) { for (size_t n = 0;; n++) { int order = (unsigned char)left[n] - (unsigned char)right[n]; if (order != 0 || left[n] == 0) return order; } }
static int strncmp(const char *left, const char *right, size_t size) { for (size_t n = 0; n < size; n++) { int order = (unsigned char)left[n] - (unsigned char)right[n]; if (order != 0 || left[n] == 0) return order; } return 0; }
int strcoll(const char *left, const char *right);
size_t strxfrm(char *target, const char *source, size_t size);
static char *strchr(const char *text, int c) { for (size_t n = 0;; n++) { if (text[n] == (char)c) return (char *)text + n; if (text[n] == 0) return 0; } }
char *strrchr(const char *text, int c);
char *strstr(const char *text, const char *part);
char *strpbrk(const char *text, const char *characters);
size_t strspn(const char *text, const char *characters);
size_t strcspn(const char *text, const char *characters);
char *strtok(char *text, const char *delimiters);
char *strtok_r(char *text, const char *delimiters, char **rest);
char *strerror(int error);
char *strdup(const char *text);
char *strndup(const char *text, size_t size);
