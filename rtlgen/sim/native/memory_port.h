// What stands behind the memory port of a Verilated circuit. Of itself it does nothing: that is right
// where nothing is off chip.

#ifndef RTLGEN_MEMORY_PORT_H
#define RTLGEN_MEMORY_PORT_H

#include <cstdint>
#include <functional>

#include "Vtop.h"
#include "memory_contents.h"

// What the circuit says of the first answer that was an error.
struct Told {
    bool error;
    uint64_t address, write, response;
};

class MemoryPort {
public:
    virtual ~MemoryPort() = default;

    // What is in the memory; null where there is none.
    virtual MemoryContents* contents() { return nullptr; }

    // Take, a word at a time, how the memory behaves, where that can be chosen.
    virtual void take(const std::function<uint64_t()>&) {}

    // The circuit is in reset: what it has asked for is forgotten, and nothing answers.
    virtual void enter_reset(Vtop&) {}

    // The circuit was reset.
    virtual void reset() {}

    // Drive what belongs to the memory and is sampled with start; later it may be anything.
    virtual void before_start(Vtop&) {}
    virtual void after_start(Vtop&) {}

    // Act when the registers of the circuit have settled behind a clock edge. `cycle` is that of
    // the run, 0 while nothing runs.
    virtual void after_edge(Vtop&, uint64_t) {}

    // Look when what follows from the memory's pins has settled, before the next edge.
    virtual void before_edge(Vtop&, uint64_t) {}

    // In the cycle of done or later: the first answer of the memory that was an error, as the
    // circuit says; see AxiMemory. 0: none was.
    virtual uint64_t error(const Told&) { return 0; }
};

#endif
