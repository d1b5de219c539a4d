// The pins of an AXI4 port in one cycle, as its two sides drive them.

#ifndef RTLGEN_AXI_PINS_H
#define RTLGEN_AXI_PINS_H

#include <cstdint>

#include "memory_contents.h"

constexpr uint8_t OKAY = 0, SLVERR = 2;
// In place of a response, as the circuit tells it: an answer was not one that was asked for.
constexpr uint8_t OUT_OF_STEP = 1;

// Of channel AW or AR.
struct AxiAddress {
    bool valid = false;
    uint64_t id = 0, addr = 0, len = 0, size = 0, burst = 0, cache = 0, prot = 0;
};

// Of channel W.
struct AxiWord {
    bool valid = false, last = false;
    uint64_t strobes = 0;
    uint8_t data[MOST_WORD_BYTES] = {};
};

// What the circuit drives.
struct AxiOutputs {
    AxiAddress aw, ar;
    AxiWord w;
    bool bready = false, rready = false;
};

// What the memory drives.
struct AxiInputs {
    bool awready = false, wready = false, arready = false;
    bool bvalid = false, rvalid = false, rlast = false;
    uint8_t bid = 0, bresp = OKAY, rid = 0, rresp = OKAY;
    uint8_t rdata[MOST_WORD_BYTES] = {};
};

#endif
