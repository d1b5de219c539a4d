// A rule that the circuit has broken.

#ifndef RTLGEN_BROKEN_H
#define RTLGEN_BROKEN_H

#include <cstdint>
#include <string>

// cycle, byte: of a store to a byte of the memory that must not be written; else cycle is 0. What
// is there, the message says that rtlgen/sim/off_chip.py makes of them.
struct Broken {
    const char* outcome;
    std::string message;
    uint64_t cycle = 0;
    uint64_t byte = 0;
};

#endif
