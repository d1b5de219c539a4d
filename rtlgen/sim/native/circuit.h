// A Verilated circuit with its clock and what stands behind its memory port and its streams.

#ifndef RTLGEN_CIRCUIT_H
#define RTLGEN_CIRCUIT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Vtop.h"
#include "broken.h"
#include "design.h"
#include MEMORY_HEADER
#include "streams.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Tracer = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Tracer = VerilatedVcdC;
#endif

constexpr uint64_t HALF_CYCLE_PS = 5000;  // As rtlgen/sim/host.py has it.

using Words = std::vector<uint64_t>;

struct Record {
    uint64_t cycles, returned, checksum, error;
    bool operator==(const Record& other) const {
        return cycles == other.cycles && returned == other.returned &&
               checksum == other.checksum && error == other.error;
    }
};

class Circuit {
public:
    explicit Circuit(const char* trace) : top_(new Vtop(&context_)) {
        context_.randReset(2);
        context_.randSeed(1);
#if VM_TRACE
        if (trace) {
            context_.traceEverOn(true);
            tracer_ = std::make_unique<Tracer>();
            top_->trace(tracer_.get(), 99);
            tracer_->open(trace);
        }
#else
        (void)trace;
#endif
#define CLEAR(name) top_->name = 0;
        INPUTS(CLEAR)
#undef CLEAR
        top_->clock = 0;
    }

    ~Circuit() {
        show();
        top_->final();
#if VM_TRACE
        if (tracer_) tracer_->close();
#endif
    }

    Vtop& top() { return *top_; }
    MemoryPort& port() { return port_; }
    Streams& streams() { return streams_; }

    // Hold reset for two cycles, and let one more go by.
    void reset() {
        top_->reset = 1;
        cycle = 0;
        port_.enter_reset(*top_);
        streams_.forget(*top_);
        tick();
        tick();
        top_->reset = 0;
        tick();
        port_.reset();
    }

    // One clock cycle, from low to low: the inputs that were set are sampled by its rising edge. A
    // reader of the waves sees them from the falling edge before it on.
    void tick() {
        streams_.step(*top_, cycle);
        show();
        // Verilator propagates changed inputs before it looks for clock edges.
        top_->clock = 1;
        top_->eval();
        port_.after_edge(*top_, cycle);
        show();
        top_->clock = 0;
        top_->eval();
        port_.before_edge(*top_, cycle);
    }

    // Of a run, as the clock edge that comes next is counted; 0 while nothing runs.
    uint64_t cycle = 0;

private:
    // Write what the signals are in this half of a cycle.
    void show() {
#if VM_TRACE
        if (!tracer_) return;
        top_->eval();
        tracer_->dump(context_.time());
        context_.timeInc(HALF_CYCLE_PS);
#endif
    }

    VerilatedContext context_;
    std::unique_ptr<Vtop> top_;
    MEMORY_PORT port_{MEMORY_FIGURES};
    Streams streams_;
#if VM_TRACE
    std::unique_ptr<Tracer> tracer_;
#endif
};

#endif
