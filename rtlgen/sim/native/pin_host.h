// The host of a kernel: start, done, and a memory port for each array.

#ifndef RTLGEN_PIN_HOST_H
#define RTLGEN_PIN_HOST_H

#include <algorithm>
#include <string>
#include <vector>

#include "circuit.h"

class Host {
public:
    explicit Host(const char* trace) : circuit_(trace), top_(circuit_.top()) {}

    MemoryPort& port() { return circuit_.port(); }
    Streams& streams() { return circuit_.streams(); }

    void reset() {
        top_.start = 0;
        release();
        circuit_.reset();
        expect_idle("after reset");
    }

    void load(const std::vector<Words>& images) {
        size_t longest = 0;
#define EXTENT(n, depth, enables) longest = std::max<size_t>(longest, depth);
        ARRAYS(EXTENT)
#undef EXTENT
        for (size_t address = 0; address < longest; ++address) {
#define WRITE(n, depth, enables)                                    \
    {                                                               \
        const bool active = address < depth;                        \
        top_.addr_##n = active ? address : 0;                       \
        top_.en_##n = active;                                       \
        top_.we_##n = active ? enables : 0;                         \
        top_.wdata_##n = active ? images[n][address] : 0;           \
    }
            ARRAYS(WRITE)
#undef WRITE
            circuit_.tick();
        }
        release();
        streams().load(images);
        given_ = images;
    }

    std::vector<Words> read() {
        std::vector<Words> images(ARRAY_COUNT);
        size_t longest = 0;
#define EXTENT(n, depth, enables) longest = std::max<size_t>(longest, depth);
        ARRAYS(EXTENT)
#undef EXTENT
        for (size_t address = 0; address < longest; ++address) {
#define ASK(n, depth, enables)                \
    top_.en_##n = address < depth;            \
    top_.addr_##n = address < depth ? address : 0;
            ARRAYS(ASK)
#undef ASK
            circuit_.tick();
#define TAKE(n, depth, enables) \
    if (address < depth) images[n].push_back(top_.rdata_##n);
            ARRAYS(TAKE)
#undef TAKE
        }
        release();
        circuit_.tick();
#define HOLDS(n, depth, enables)                                                           \
    if (images[n].back() != top_.rdata_##n)                                                \
        throw Broken{"protocol", std::string(array_names[n]) +                             \
                                     ": read data does not hold while enable is low"};
        ARRAYS(HOLDS)
#undef HOLDS
        streams().read(images, given_, [this] { circuit_.tick(); });
        return images;
    }

    // Begin a run that a reset ends in a cycle, or that is over by then.
    void begin(const Words& scalars, uint64_t last_cycle) {
        start(scalars);
        while (!top_.done && circuit_.cycle < last_cycle) {
            ++circuit_.cycle;
            circuit_.tick();
        }
        reset();
    }

    Record run(const Words& scalars, uint64_t limit) {
        start(scalars);
        for (;;) {
            if (circuit_.cycle > limit)
                throw Broken{"hang", "no done within " + std::to_string(limit) + " cycles"};
            if (top_.idle)
                throw Broken{"protocol", "idle is high in cycle " + std::to_string(circuit_.cycle) +
                                             " of a run"};
            if (top_.done) break;
            ++circuit_.cycle;
            circuit_.tick();
        }
        const uint64_t cycles = circuit_.cycle;
        port().error(TOLD(top_));
        circuit_.cycle = 0;
        circuit_.tick();
        expect_idle("in the cycle after done (cycle " + std::to_string(cycles) + ")");
        if (STREAM_ERRORS(top_))
            throw Broken{"protocol", "the circuit says that a stream was too short, or too long"};
        take_copies();
        return Record{cycles, RETURNED(top_), CHECKSUM(top_), port().error(TOLD(top_))};
    }

private:
    void start(const Words& scalars) {
        size_t scalar = 0;
#define SET(name, mask) top_.name = scalars[scalar++];
        SCALARS(SET)
#undef SET
        port().before_start(top_);
        top_.start = 1;
        circuit_.cycle = 1;
        circuit_.tick();
        top_.start = 0;
        scalar = 0;
        // Scalars and bases are captured at start: from here on they may be anything.
#define SPOIL(name, mask) top_.name = ~scalars[scalar++] & mask;
        SCALARS(SPOIL)
#undef SPOIL
        port().after_start(top_);
        top_.eval();
    }

    // Give the host the copies that a run has left, of arrays that are there twice.
    void take_copies() {
#ifdef SWAP
        top_.SWAP = 1;
        circuit_.tick();
        top_.SWAP = 0;
        top_.eval();
#endif
    }

    void release() {
#define RELEASE(n, depth, enables) \
    top_.en_##n = 0;               \
    top_.we_##n = 0;
        ARRAYS(RELEASE)
#undef RELEASE
    }

    void expect_idle(const std::string& when) {
        if (!top_.idle) throw Broken{"protocol", "idle is low " + when};
        if (top_.done) throw Broken{"protocol", "done is high " + when};
    }

    Circuit circuit_;
    Vtop& top_;
    std::vector<Words> given_;
};

#endif
