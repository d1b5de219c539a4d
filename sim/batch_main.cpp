// Runs many circuits, compiled into one model, one after the other.
//
// The model is the module `batch` that sim/batch.py writes: `chosen` says which circuit has
// the clock, `array` which of its arrays the host reaches. The rules are those of kernel_main.cpp:
// inputs change while the clock is low; what is seen just before a rising edge is what it samples.
//
// usage: simulation INPUTS OUTPUTS
// INPUTS, 8 bytes each: the number of circuits; of each the cycles after which it hangs, 8 scalars,
// the number of arrays, and of each array the write enables, the depth and the words; then of the
// memory off chip its kind (0: there is none, 1: of constant latency, 2: behind an AXI4 port, 3:
// the same with one data bus), the bytes of a word, the words, the cycles of an access,
// whether it pauses now and then, or where its arrays are and how it behaves (axi_port.h), whose each
// byte is, and what is in it.
// OUTPUTS, likewise: of each circuit an outcome (0 done, 1 hang, 2 protocol, 3 memory), cycles,
// return value, the words of all arrays and the bytes of the memory.
// Standard output: a line for each rule of a memory port that is broken, "CIRCUIT MESSAGE".

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "Vtop.h"
#include "axi_port.h"
#include "broken.h"
#include "fixed_port.h"
#include "verilated.h"

namespace {

using Words = std::vector<uint64_t>;

struct Array {
    uint64_t enables;
    Words words;
};

// A memory of constant latency, of which some accesses take longer by chance.
class PausingPort : public FixedPort {
public:
    using FixedPort::FixedPort;

    void after_edge(Vtop& top, uint64_t cycle) override {
        seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
        paused_ = top.memory_en && seed_ >> 62;
        if (!paused_) return FixedPort::after_edge(top, cycle);
        top.memory_ack = 0;
        std::memset(&top.memory_rdata, 0xa5, sizeof top.memory_rdata);
    }

    void before_edge(Vtop& top, uint64_t cycle) override {
        if (!paused_) FixedPort::before_edge(top, cycle);
    }

private:
    bool paused_ = false;
    uint64_t seed_ = 1;
};

class Bench {
public:
    Bench() : top_(&context_) {
        context_.randReset(2);
        context_.randSeed(1);
        top_.clock = top_.reset = top_.start = top_.en = top_.we = 0;
    }

    void choose(uint64_t circuit) {
        port_ = &nothing_;
        cycle_ = 0;
        top_.chosen = circuit;
        top_.eval();
        top_.reset = 1;
        tick();
        tick();
        top_.reset = 0;
        tick();
    }

    // Put a memory behind the memory port.
    void serve_from(MemoryPort& port) {
        port_ = &port;
        port_->reset();
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
        port_->before_start(top_);
        top_.start = 1;
        cycle_ = 1;
        tick();
        top_.start = 0;
        // Scalars are captured at start: from here on they may be anything.
        Words spoilt = scalars;
        for (uint64_t& word : spoilt) word = ~word;
        set(spoilt);
        port_->after_start(top_);
        top_.eval();
        while (!top_.done) {
            if (cycle_ > limit) return 1;
            if (top_.idle) return 2;
            ++cycle_;
            tick();
        }
        cycles = cycle_;
        cycle_ = 0;
        tick();
        port_->error(Told{bool(top_.memory_error), top_.memory_error_address,
                          top_.memory_error_write, top_.memory_error_response});
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
        port_->after_edge(top_, cycle_);
        top_.clock = 0;
        top_.eval();
        port_->before_edge(top_, cycle_);
    }

    MemoryPort nothing_;
    MemoryPort* port_ = &nothing_;
    uint64_t cycle_ = 0;
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

std::unique_ptr<MemoryPort> take_port(std::istream& from) {
    const uint64_t kind = take(from);
    if (!kind) return std::make_unique<MemoryPort>();
    const uint64_t word_bytes = take(from), depth = take(from), latency = take(from);
    if (kind >= 2) {
        const auto word = [&] { return take(from); };
        auto port = std::make_unique<AxiPort>(word_bytes, depth, latency, kind == 3,
                                              take_places(word));
        port->take(word);
        return port;
    }
    if (take(from)) return std::make_unique<PausingPort>(word_bytes, depth, latency);
    return std::make_unique<FixedPort>(word_bytes, depth, latency);
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
        const std::unique_ptr<MemoryPort> port = take_port(input);
        MemoryContents* memory = port->contents();
        if (memory) {
            std::vector<uint8_t> owners(memory->bytes()), image(memory->bytes());
            for (uint8_t& byte : owners) byte = take(input);
            for (uint8_t& byte : image) byte = take(input);
            memory->set_up(std::move(owners), image);
        }
        uint64_t cycles = 0, outcome = 3;
        bench.choose(circuit);
        bench.serve_from(*port);
        bench.load(arrays);
        try {
            outcome = bench.run(scalars, limit, cycles);
        } catch (const Broken& broken) {
            std::printf("%llu %s\n", (unsigned long long)circuit, broken.message.c_str());
            bench.choose(circuit);
        }
        put(output, outcome);
        put(output, cycles);
        put(output, bench.returned());
        bench.read(arrays);
        for (const Array& array : arrays)
            for (uint64_t word : array.words) put(output, word);
        if (memory)
            for (uint8_t byte : memory->left()) put(output, byte);
    }
    output.close();
    return output ? 0 : 2;
}
