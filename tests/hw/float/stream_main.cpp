// Streams operands through the module `bank` of streamed.py, one set a cycle.
//
// usage: simulation INPUTS OUTPUTS
// INPUTS, 8 bytes each: the number of operations, the latency of each, the number of samples, and
// of each sample three operands.
// OUTPUTS, likewise: of each operation the results of all samples.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

int main(int, char** arguments) {
    VerilatedContext context;
    Vtop top(&context);
    FILE* in = std::fopen(arguments[1], "rb");
    auto next = [in] {
        uint64_t word = 0;
        if (std::fread(&word, 8, 1, in) != 1) word = 0;
        return word;
    };
    std::vector<uint64_t> latency(next());
    uint64_t longest = 0;
    for (uint64_t& cycles : latency) {
        cycles = next();
        if (cycles > longest) longest = cycles;
    }
    const uint64_t samples = next();
    std::vector<std::vector<uint64_t>> results(latency.size(), std::vector<uint64_t>(samples));
    for (uint64_t cycle = 0; cycle < samples + longest; cycle++) {
        if (cycle < samples) {
            top.a = next();
            top.b = next();
            top.c = next();
        }
        top.clk = 0;
        top.eval();
        for (size_t k = 0; k < latency.size(); k++) {
            const uint64_t sample = cycle - latency[k];
            if (sample >= samples) continue;
            results[k][sample] = top.results[2 * k] | (uint64_t)top.results[2 * k + 1] << 32;
        }
        top.clk = 1;
        top.eval();
    }
    std::fclose(in);
    FILE* out = std::fopen(arguments[2], "wb");
    for (const auto& each : results) std::fwrite(each.data(), 8, each.size(), out);
    std::fclose(out);
    return 0;
}
