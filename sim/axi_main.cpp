// Drives the C++ model of an AXI4 memory with given pins, without any circuit.
//
// usage: simulation INPUTS OUTPUTS, all numbers of 8 bytes, as sim/axi_traffic.py has them.
// INPUTS: the number of cases; of each the bytes of a word, the words, the latency,
// whether it is a DRAM, where its arrays are, how the memory behaves, whose each byte is, what is in
// it, the number of cycles, and of each cycle that of the run and the pins of the circuit.
// OUTPUTS: of each case the number of cycles until a rule was broken, of each the pins of the
// memory; then its bytes, and the cycles in which they were written, and its error.
// Standard output: a line a case: the broken rule, or nothing.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "axi_memory.h"

namespace {

std::ifstream input;
std::ofstream output;

uint64_t take() {
    uint64_t word = 0;
    input.read(reinterpret_cast<char*>(&word), sizeof word);
    return word;
}

void put(uint64_t word) { output.write(reinterpret_cast<const char*>(&word), sizeof word); }

AxiAddress take_address() {
    AxiAddress found;
    found.valid = take();
    for (uint64_t* each : {&found.id, &found.addr, &found.len, &found.size, &found.burst,
                           &found.cache, &found.prot})
        *each = take();
    return found;
}

AxiOutputs take_pins() {
    AxiOutputs found;
    found.aw = take_address();
    found.w.valid = take();
    found.w.strobes = take();
    found.w.last = take();
    input.read(reinterpret_cast<char*>(found.w.data), MOST_WORD_BYTES);
    found.ar = take_address();
    found.bready = take();
    found.rready = take();
    return found;
}

void put_pins(const AxiInputs& pins) {
    for (uint64_t each : {uint64_t(pins.awready), uint64_t(pins.wready), uint64_t(pins.arready),
                          uint64_t(pins.bvalid), uint64_t(pins.bid), uint64_t(pins.bresp),
                          uint64_t(pins.rvalid), uint64_t(pins.rlast), uint64_t(pins.rid),
                          uint64_t(pins.rresp)})
        put(each);
    output.write(reinterpret_cast<const char*>(pins.rdata), MOST_WORD_BYTES);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    input.open(argv[1], std::ios::binary);
    output.open(argv[2], std::ios::binary);
    for (uint64_t left = take(); left; --left) {
        const uint64_t word_bytes = take(), depth = take(), latency = take();
        const bool is_dram = take();
        AxiMemory memory(word_bytes, depth, latency, is_dram, take_places(take));
        AxiBehaviour behaviour;
        behaviour.take(take);
        std::vector<uint8_t> owners(memory.bytes()), image(memory.bytes());
        for (uint8_t& byte : owners) byte = take();
        for (uint8_t& byte : image) byte = take();
        memory.set_up(std::move(owners), image);
        memory.reset(behaviour);
        const uint64_t cycles = take();
        std::vector<AxiInputs> pins;
        std::string message;
        for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
            const uint64_t of_run = take();
            const AxiOutputs seen = take_pins();
            if (!message.empty()) continue;
            try {
                pins.push_back(memory.drive(of_run));
                memory.look(seen, of_run);
            } catch (const Broken& broken) {
                message = broken.message;
                if (broken.cycle)
                    message += " " + std::to_string(broken.cycle) + " " +
                               std::to_string(broken.byte);
            }
        }
        if (!input) return 2;
        put(pins.size());
        for (const AxiInputs& each : pins) put_pins(each);
        for (uint8_t byte : memory.left()) put(byte);
        for (uint32_t cycle : memory.written()) put(cycle);
        put(memory.error());
        std::printf("%s\n", message.c_str());
    }
    output.close();
    return output ? 0 : 2;
}
