// The port of a Verilated circuit to a memory of constant latency.

#ifndef RTLGEN_FIXED_PORT_H
#define RTLGEN_FIXED_PORT_H

#include <cstdint>
#include <cstring>

#include "Vtop.h"
#include "fixed_memory.h"
#include "memory_port.h"

class FixedPort : public MemoryPort {
public:
    FixedPort(size_t word_bytes, uint64_t depth_words, uint64_t latency_cycles)
        : memory_(word_bytes, depth_words, latency_cycles) {}

    MemoryContents* contents() override { return &memory_; }

    void enter_reset(Vtop& top) override {
        serves_ = false;
        top.memory_ack = 0;
    }

    void reset() override {
        memory_.forget();
        serves_ = true;
    }

    void after_edge(Vtop& top, uint64_t cycle) override {
        if (!serves_) return;
        uint8_t answer[MOST_WORD_BYTES];
        top.memory_ack = memory_.serve(request(top), cycle, answer);
        std::memcpy(&top.memory_rdata, answer, memory_.word_bytes());
    }

    void before_edge(Vtop& top, uint64_t cycle) override {
        if (serves_) memory_.look_again(request(top), cycle);
    }

private:
    // Of any width, the lowest byte of a port comes first.
    Request request(Vtop& top) {
        Request found;
        found.enable = top.memory_en;
        if (!found.enable) return found;
        found.strobes = top.memory_we;
        found.word = top.memory_addr;
        std::memcpy(found.data, &top.memory_wdata, memory_.word_bytes());
        return found;
    }

    FixedMemory memory_;
    bool serves_ = false;
};

#endif
