/* Functions of Berkeley SoftFloat over many operands: its numbers are structures of their bits. */

#include <stdbool.h>
#include <stdint.h>

#define UNARY(in, out)                                                                    \
    void unary_##in##_##out(int64_t n, uint##out##_t (*f)(uint##in##_t),                  \
                            const uint##in##_t* a, uint##out##_t* r) {                    \
        for (int64_t i = 0; i < n; i++) r[i] = f(a[i]);                                   \
    }

/* The direction is one of SoftFloat's; that a result is inexact is not asked for. */
#define DIRECTED(in, out)                                                                 \
    void directed_##in##_##out(int64_t n, uint##out##_t (*f)(uint##in##_t, uint8_t, bool), \
                               const uint##in##_t* a, uint##out##_t* r, int direction) {  \
        for (int64_t i = 0; i < n; i++) r[i] = f(a[i], (uint8_t)direction, false);        \
    }

#define OF_ONE_FORMAT(w)                                                                  \
    UNARY(w, 16) UNARY(w, 32) UNARY(w, 64) DIRECTED(w, 32) DIRECTED(w, 64)                \
    void binary_##w(int64_t n, uint##w##_t (*f)(uint##w##_t, uint##w##_t),                \
                    const uint##w##_t* a, const uint##w##_t* b, uint##w##_t* r) {         \
        for (int64_t i = 0; i < n; i++) r[i] = f(a[i], b[i]);                             \
    }                                                                                     \
    void ternary_##w(int64_t n, uint##w##_t (*f)(uint##w##_t, uint##w##_t, uint##w##_t),  \
                     const uint##w##_t* a, const uint##w##_t* b, const uint##w##_t* c,    \
                     uint##w##_t* r) {                                                    \
        for (int64_t i = 0; i < n; i++) r[i] = f(a[i], b[i], c[i]);                       \
    }                                                                                     \
    void compare_##w(int64_t n, bool (*f)(uint##w##_t, uint##w##_t),                      \
                     const uint##w##_t* a, const uint##w##_t* b, uint32_t* r) {           \
        for (int64_t i = 0; i < n; i++) r[i] = f(a[i], b[i]);                             \
    }

OF_ONE_FORMAT(16)
OF_ONE_FORMAT(32)
OF_ONE_FORMAT(64)
DIRECTED(16, 16)
