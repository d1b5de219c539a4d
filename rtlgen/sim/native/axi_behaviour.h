// When a memory behind an AXI4 port answers, and what: does what rtlgen/sim/axi_behaviour.py does.

#ifndef RTLGEN_AXI_BEHAVIOUR_H
#define RTLGEN_AXI_BEHAVIOUR_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "axi_pins.h"

enum AxiChannel { AW, W, B, AR, R };
enum AxiDirection : uint64_t { AXI_READ, AXI_WRITE };

struct AxiError {
    uint64_t direction, burst, response;
};

struct AxiBadWord {
    uint64_t direction, byte, response;
};

enum AxiFaultKind : uint64_t { SURPLUS, LATE, MISSING, EARLY, NEVER, NO_FAULT };

struct AxiFault {
    uint64_t direction, burst, kind;
};

// Members as in rtlgen/sim/axi_behaviour.py; 0 where there is no such thing.
struct AxiBehaviour {
    uint64_t pauses = 0, outstanding = 0, dram = 0;
    std::vector<AxiError> errors;
    std::vector<AxiBadWord> bad_words;
    std::vector<AxiFault> faults;

    // Take what `words` of rtlgen/sim/axi_behaviour.py gives, from anything that gives numbers.
    template <typename Take>
    void take(Take word) {
        pauses = word();
        outstanding = word();
        dram = word();
        errors.resize(word());
        for (AxiError& error : errors) {
            error.direction = word();
            error.burst = word();
            error.response = word();
        }
        bad_words.resize(word());
        for (AxiBadWord& bad : bad_words) {
            bad.direction = word();
            bad.byte = word();
            bad.response = word();
        }
        faults.resize(word());
        for (AxiFault& fault : faults) {
            fault.direction = word();
            fault.burst = word();
            fault.kind = word();
        }
    }

    uint64_t fault(AxiDirection direction, uint64_t burst) const {
        for (const AxiFault& fault : faults)
            if (fault.direction == direction && fault.burst == burst) return fault.kind;
        return NO_FAULT;
    }

    uint8_t response(AxiDirection direction, uint64_t burst) const {
        for (const AxiError& error : errors)
            if (error.direction == direction && error.burst == burst) return error.response;
        return OKAY;
    }

    uint8_t response_at(AxiDirection direction, uint64_t begin, uint64_t end) const {
        for (const AxiBadWord& bad : bad_words)
            if (bad.direction == direction && begin <= bad.byte && bad.byte < end)
                return bad.response;
        return OKAY;
    }
};

// Numbers of 32 bits by chance.
class AxiRandom {
public:
    explicit AxiRandom(uint64_t seed) : state_(seed) {}
    uint32_t next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return uint32_t(state_ >> 32);
    }

private:
    uint64_t state_;
};

// Which channels pause in a cycle. How often each does is drawn anew every 64 cycles.
class AxiPauses {
public:
    explicit AxiPauses(uint64_t seed) : seed_(seed), random_(seed) {}

    void next_cycle() {
        if (!seed_) return;
        if (cycle_++ % 64 == 0) often_ = random_.next();
        const uint32_t drawn = random_.next();
        for (int channel = AW; channel <= R; ++channel)
            paused_[channel] = (drawn >> 4 * channel & 15) < (often_ >> 4 * channel & 15);
    }

    bool on(AxiChannel channel) const { return paused_[channel]; }
    // What a memory may wait for before it is ready, too.
    bool address_waits_for_word() const { return seed_ % 4 == 1; }
    bool word_waits_for_address() const { return seed_ % 4 == 2; }

private:
    uint64_t seed_, cycle_ = 0;
    AxiRandom random_;
    uint32_t often_ = 0;
    bool paused_[5] = {};
};

// Cycles of bursts in a DRAM: eight banks with a row of 2 KiB open in each, one bus for both ways.
// Without a seed each burst has the latency that is given.
class AxiDram {
public:
    AxiDram(uint64_t seed, uint64_t latency_cycles)
        : random_(seed), latency_(seed ? 0 : latency_cycles) {}

    // The first cycle with data of a burst that is asked for in cycle `now`.
    uint64_t begin(uint64_t address, uint64_t beats, uint64_t now) {
        const uint64_t row = address / ROW_BYTES, bank = row % BANKS;
        const bool is_open = open_[bank] == row + 1;
        open_[bank] = row + 1;
        const uint64_t latency =
            latency_ ? latency_ : (is_open ? 30 : 60) + random_.next() % 41;
        const uint64_t first = std::max(now + latency, free_);
        free_ = first + beats + TURN_CYCLES;
        return first;
    }

private:
    static constexpr uint64_t ROW_BYTES = 2048, BANKS = 8, TURN_CYCLES = 4;
    AxiRandom random_;
    uint64_t latency_;
    uint64_t open_[BANKS] = {}, free_ = 0;
};

#endif
