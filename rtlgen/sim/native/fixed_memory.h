// The memory off chip of a simulation: every access takes the same number of cycles. Does what
// rtlgen/sim/memory_drivers.py does through cocotb, by the same rules. It knows nothing of Verilator.

#ifndef RTLGEN_FIXED_MEMORY_H
#define RTLGEN_FIXED_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "broken.h"
#include "memory_contents.h"

// What a circuit asks for in a cycle; without a strobe a read.
struct Request {
    bool enable = false;
    uint64_t strobes = 0;
    uint64_t word = 0;
    uint8_t data[MOST_WORD_BYTES] = {};
};

class FixedMemory : public MemoryContents {
public:
    FixedMemory(size_t word_bytes, uint64_t depth_words, uint64_t latency_cycles)
        : MemoryContents(word_bytes, depth_words), latency_(latency_cycles) {}

    // Answer what is asked just after a rising clock edge; return ack. `cycle` is that of the run, 0
    // while nothing runs. `answer` gets a word: without ack, the complement of the one asked for.
    bool serve(const Request& request, uint64_t cycle, uint8_t* answer) {
        age_ = open_ ? age_ + 1 : 1;
        if (request.enable && !cycle)
            throw Broken{"memory", "the circuit asks for a word while it is idle"};
        if (open_) require_held(request, cycle);
        held_ = request;
        open_ = request.enable;
        if (!open_) return false;
        if (request.word >= depth_words())
            throw Broken{"memory", "cycle " + std::to_string(cycle) + " asks for word " +
                                       std::to_string(request.word) + " of a memory of " +
                                       std::to_string(depth_words())};
        const bool ack = age_ == latency_;
        const uint8_t flip = ack && !request.strobes ? 0 : 0xff;
        for (size_t place = 0; place < word_bytes(); ++place)
            answer[place] = word(request.word)[place] ^ flip;
        if (ack && request.strobes) {
            require_writable(request.word, request.strobes, cycle);
            store(request.word, request.strobes, request.data, cycle);
        }
        open_ = !ack;
        return ack;
    }

    // Nothing is asked for any more.
    void forget() {
        held_ = {};
        open_ = false;
    }

    // Look again before the next edge: what comes from registers does not depend on the answer.
    void look_again(const Request& request, uint64_t cycle) const {
        if (held_.enable) require_held(request, cycle);
    }

private:
    void require_held(const Request& now, uint64_t cycle) const {
        const char* changed = nullptr;
        if (!now.enable)
            changed = "the enable";
        else if (now.strobes != held_.strobes)
            changed = "the strobes";
        else if (now.word != held_.word)
            changed = "the address";
        else
            for (size_t place = 0; place < word_bytes(); ++place)
                if (now.strobes >> place & 1 && now.data[place] != held_.data[place])
                    changed = "the data";
        if (changed)
            throw Broken{"memory", "cycle " + std::to_string(cycle) + " changes " + changed +
                                       " of an access before it is over"};
    }

    uint64_t latency_;
    Request held_;
    bool open_ = false;
    uint64_t age_ = 0;
};

#endif
