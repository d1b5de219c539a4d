// Runs many circuits, compiled into one model, one after the other.
//
// The model is the module `batch` that tests/sim/batch.py writes: `chosen` says which circuit has
// the clock, `array` which of its arrays the host reaches. The rules are those of kernel_main.cpp:
// inputs change while the clock is low; what is seen just before a rising edge is what it samples.
//
// usage: simulation INPUTS OUTPUTS
// INPUTS, 8 bytes each: the number of circuits; of each the cycles after which it hangs, 8 scalars,
// the number of arrays, and of each array the write enables, the depth and the words.
// OUTPUTS, likewise: of each circuit an outcome (0 done, 1 hang, 2 protocol), cycles, return value
// and the words of all arrays.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

namespace {

using Words = std::vector<uint64_t>;

struct Array {
    uint64_t enables;
    Words words;
};

class Bench {
public:
    Bench() : top_(&context_) {
        context_.randReset(2);
        context_.randSeed(1);
        top_.clock = top_.reset = top_.start = top_.en = top_.we = 0;
    }

    void choose(uint64_t circuit) {
        top_.chosen = circuit;
        top_.eval();
        top_.reset = 1;
        tick();
        tick();
        top_.reset = 0;
        tick();
    }

    void load(const std::vector<Array>& arrays) {
        for (size_t number = 0; number < arrays.size(); ++number) {
            top_.array = number;
            top_.en = 1;
            top_.we = arrays[number].enables;
            for (size_t at = 0; at < arrays[number].words.size(); ++at) {
                top_.addr = at;
                top_.wdata = arrays[number].words[at];
                tick();
            }
        }
        top_.en = top_.we = 0;
    }

    void read(std::vector<Array>& arrays) {
        for (size_t number = 0; number < arrays.size(); ++number) {
            top_.array = number;
            top_.en = 1;
            for (size_t at = 0; at < arrays[number].words.size(); ++at) {
                top_.addr = at;
                tick();
                arrays[number].words[at] = top_.rdata;
            }
        }
        top_.en = 0;
    }

    uint64_t run(const Words& scalars, uint64_t limit, uint64_t& cycles) {
        if (!top_.idle || top_.done) return 2;
        set(scalars);
        top_.start = 1;
        tick();
        top_.start = 0;
        // Scalars are captured at start: from here on they may be anything.
        Words spoilt = scalars;
        for (uint64_t& word : spoilt) word = ~word;
        set(spoilt);
        top_.eval();
        for (cycles = 1; !top_.done; ++cycles) {
            if (cycles > limit) return 1;
            if (top_.idle) return 2;
            tick();
        }
        tick();
        return top_.idle && !top_.done ? 0 : 2;
    }

    uint64_t returned() const { return top_.returned; }

private:
    void set(const Words& scalars) {
        top_.scalar_0 = scalars[0];
        top_.scalar_1 = scalars[1];
        top_.scalar_2 = scalars[2];
        top_.scalar_3 = scalars[3];
        top_.scalar_4 = scalars[4];
        top_.scalar_5 = scalars[5];
        top_.scalar_6 = scalars[6];
        top_.scalar_7 = scalars[7];
    }

    void tick() {
        top_.eval();
        top_.clock = 1;
        top_.eval();
        top_.clock = 0;
        top_.eval();
    }

    VerilatedContext context_;
    Vtop top_;
};

uint64_t take(std::istream& from) {
    uint64_t word = 0;
    from.read(reinterpret_cast<char*>(&word), sizeof word);
    return word;
}

void put(std::ostream& to, uint64_t word) {
    to.write(reinterpret_cast<const char*>(&word), sizeof word);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::ifstream input(argv[1], std::ios::binary);
    std::ofstream output(argv[2], std::ios::binary);
    Bench bench;
    const uint64_t circuits = take(input);
    for (uint64_t circuit = 0; circuit < circuits; ++circuit) {
        const uint64_t limit = take(input);
        Words scalars(8);
        for (uint64_t& word : scalars) word = take(input);
        std::vector<Array> arrays(take(input));
        for (Array& array : arrays) {
            array.enables = take(input);
            array.words.resize(take(input));
            for (uint64_t& word : array.words) word = take(input);
        }
        if (!input) return 2;
        uint64_t cycles = 0;
        bench.choose(circuit);
        bench.load(arrays);
        put(output, bench.run(scalars, limit, cycles));
        put(output, cycles);
        put(output, bench.returned());
        bench.read(arrays);
        for (const Array& array : arrays)
            for (uint64_t word : array.words) put(output, word);
    }
    output.close();
    return output ? 0 : 2;
}
