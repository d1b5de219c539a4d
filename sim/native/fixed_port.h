// The ports of the Verilated circuit to a memory of constant latency.

#ifndef RTLGEN_FIXED_PORT_H
#define RTLGEN_FIXED_PORT_H

#include <cstdint>
#include <cstring>
#include <istream>

#include "Vtop.h"
#include "design.h"
#include "fixed_memory.h"

class MemoryPort {
public:
    // What is in the memory; null where there is none.
    MemoryContents* contents() { return &memory_; }

    // Take from a file how the memory behaves, where that can be chosen.
    void take(std::istream&) {}

    // The circuit was reset.
    void reset() { serves_ = true; }

    // Drive what belongs to the memory and is sampled with start; later it may be anything.
    void before_start(Vtop&) {}
    void after_start(Vtop&) {}

    // Act when the registers of the circuit have settled behind a clock edge. `cycle` is that of
    // the run, 0 while nothing runs.
    void after_edge(Vtop& top, uint64_t cycle) {
        if (!serves_) return;
        uint8_t answer[MEMORY_WORD_BYTES];
        top.memory_ack = memory_.serve(request(top), cycle, answer);
        std::memcpy(&top.memory_rdata, answer, MEMORY_WORD_BYTES);
    }

    // Look when what follows from the memory's pins has settled, before the next edge.
    void before_edge(Vtop& top, uint64_t cycle) {
        if (serves_) memory_.look_again(request(top), cycle);
    }

    // In the cycle of done or later: some answer of the memory was an error, as the circuit says.
    bool error(Vtop&) { return false; }

private:
    // Of any width, the lowest byte of a port comes first.
    Request request(Vtop& top) {
        Request found;
        found.enable = top.memory_en;
        if (!found.enable) return found;
        found.strobes = top.memory_we;
        found.word = top.memory_addr;
        std::memcpy(found.data, &top.memory_wdata, MEMORY_WORD_BYTES);
        return found;
    }

    FixedMemory memory_{MEMORY_WORD_BYTES, MEMORY_DEPTH_WORDS, MEMORY_LATENCY_CYCLES};
    bool serves_ = false;
};

#endif
