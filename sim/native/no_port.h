// Nothing is off chip; fixed_port.h says what the functions are for.

#ifndef RTLGEN_NO_PORT_H
#define RTLGEN_NO_PORT_H

#include <cstdint>
#include <istream>

#include "Vtop.h"
#include "memory_contents.h"

class MemoryPort {
public:
    MemoryContents* contents() { return nullptr; }
    void take(std::istream&) {}
    void reset() {}
    void before_start(Vtop&) {}
    void after_start(Vtop&) {}
    void after_edge(Vtop&, uint64_t) {}
    void before_edge(Vtop&, uint64_t) {}
    bool error(Vtop&) { return false; }
};

#endif
