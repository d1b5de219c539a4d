// Carries out a job on a Verilated circuit without Python: for runs of millions of cycles.
//
// The model is the generated module rtlgen_native_top (rtlgen/sim/native_engine.py writes it and design.h),
// which gives every port of the circuit a name that is safe in C++. Does what rtlgen/sim/kernel_bench.py
// does through cocotb, by the same rules: inputs change while the clock is low, and what is seen
// just before a rising edge is what that edge samples.
//
// usage: simulation LIMIT_CYCLES DATA_SETS RUNS RESET_CYCLE [TRACE], in a folder with these files:
// inputs.bin: of each data set the words of each array, then the scalars, each as 8 bytes,
// little-endian.
// With a RESET_CYCLE, there is one run on the first data set before all others, which a reset ends in
// that cycle.
// outputs.bin: of each data set that was run the words of each array, then cycles, return value,
// checksum and error of each run, likewise; all data sets are run one after the other, RUNS times.
// With a memory off chip, memory.bin: for AXI4 how it behaves (axi_port.h), whose each byte is, then
// of each data set its bytes; and left.bin: of each data set that was run its bytes, then the cycle in which each was last written,
// 4 bytes each.
// Standard output: one line, "OUTCOME RUNS REPEATABLE CYCLE BYTE MESSAGE"; see broken.h.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "Vtop.h"
#include "broken.h"
#include "design.h"
#include MEMORY_HEADER
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Tracer = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Tracer = VerilatedVcdC;
#endif

namespace {

using Words = std::vector<uint64_t>;

using Bytes = std::vector<uint8_t>;

struct Record {
    uint64_t cycles, returned, checksum, error;
    bool operator==(const Record& other) const {
        return cycles == other.cycles && returned == other.returned &&
               checksum == other.checksum && error == other.error;
    }
};

class Bench {
public:
    explicit Bench(const char* trace) : top_(new Vtop(&context_)) {
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

    ~Bench() {
        top_->final();
#if VM_TRACE
        if (tracer_) tracer_->close();
#endif
    }

    void reset() {
        top_->reset = 1;
        cycle_ = 0;
        port_.enter_reset(*top_);
        tick();
        tick();
        top_->reset = 0;
        tick();
        expect_idle("after reset");
        port_.reset();
    }

    MemoryPort& port() { return port_; }

    void load(const std::vector<Words>& images) {
        size_t longest = 0;
        for (const Words& image : images) longest = std::max(longest, image.size());
        for (size_t address = 0; address < longest; ++address) {
            size_t array = 0;
#define WRITE(n, depth, enables)                                     \
    {                                                                \
        const bool active = address < depth;                         \
        top_->addr_##n = active ? address : 0;                       \
        top_->en_##n = active;                                       \
        top_->we_##n = active ? enables : 0;                         \
        top_->wdata_##n = active ? images[array][address] : 0;       \
        ++array;                                                     \
    }
            ARRAYS(WRITE)
#undef WRITE
            tick();
        }
        release();
    }

    std::vector<Words> read() {
        std::vector<Words> images(ARRAY_COUNT);
        size_t longest = 0;
#define EXTENT(n, depth, enables) longest = std::max<size_t>(longest, depth);
        ARRAYS(EXTENT)
#undef EXTENT
        for (size_t address = 0; address < longest; ++address) {
#define ASK(n, depth, enables)                 \
    top_->en_##n = address < depth;            \
    top_->addr_##n = address < depth ? address : 0;
            ARRAYS(ASK)
#undef ASK
            tick();
#define TAKE(n, depth, enables) \
    if (address < depth) images[n].push_back(top_->rdata_##n);
            ARRAYS(TAKE)
#undef TAKE
        }
        release();
        tick();
#define HOLDS(n, depth, enables)                                                           \
    if (images[n].back() != top_->rdata_##n)                                               \
        throw Broken{"protocol", std::string(array_names[n]) +                             \
                                     ": read data does not hold while enable is low"};
        ARRAYS(HOLDS)
#undef HOLDS
        return images;
    }

    // Begin a run that a reset ends in a cycle, or that is over by then.
    void begin(const Words& scalars, uint64_t last_cycle) {
        start(scalars);
        while (!top_->done && cycle_ < last_cycle) {
            ++cycle_;
            tick();
        }
        reset();
    }

    Record run(const Words& scalars, uint64_t limit) {
        start(scalars);
        for (;;) {
            if (cycle_ > limit)
                throw Broken{"hang", "no done within " + std::to_string(limit) + " cycles"};
            if (top_->idle)
                throw Broken{"protocol",
                             "idle is high in cycle " + std::to_string(cycle_) + " of a run"};
            if (top_->done) break;
            ++cycle_;
            tick();
        }
        const uint64_t cycles = cycle_;
        port_.error(*top_);
        cycle_ = 0;
        tick();
        expect_idle("in the cycle after done (cycle " + std::to_string(cycles) + ")");
        return Record{cycles, RETURNED(top_), CHECKSUM(top_), port_.error(*top_)};
    }

private:
    void start(const Words& scalars) {
        size_t scalar = 0;
#define SET(name, mask) top_->name = scalars[scalar++];
        SCALARS(SET)
#undef SET
        port_.before_start(*top_);
        top_->start = 1;
        cycle_ = 1;
        tick();
        top_->start = 0;
        scalar = 0;
        // Scalars are captured at start: from here on they may be anything.
#define SPOIL(name, mask) top_->name = ~scalars[scalar++] & mask;
        SCALARS(SPOIL)
#undef SPOIL
        port_.after_start(*top_);
        top_->eval();
    }

    // One clock cycle, from low to low: the inputs that were set are sampled by its rising edge.
    void tick() {
        // Verilator propagates changed inputs before it looks for clock edges.
        top_->clock = 1;
        top_->eval();
        port_.after_edge(*top_, cycle_);
#if VM_TRACE
        // The evaluation at the falling edge would do, but a reader of the waves wants it here.
        if (tracer_) top_->eval();
#endif
        dump();
        context_.timeInc(5);
        top_->clock = 0;
        top_->eval();
        port_.before_edge(*top_, cycle_);
        dump();
        context_.timeInc(5);
    }

    void dump() {
#if VM_TRACE
        if (tracer_) tracer_->dump(context_.time());
#endif
    }

    void release() {
#define RELEASE(n, depth, enables) \
    top_->en_##n = 0;              \
    top_->we_##n = 0;
        ARRAYS(RELEASE)
#undef RELEASE
    }

    void expect_idle(const std::string& when) {
        if (!top_->idle) throw Broken{"protocol", "idle is low " + when};
        if (top_->done) throw Broken{"protocol", "done is high " + when};
    }

    VerilatedContext context_;
    std::unique_ptr<Vtop> top_;
    MEMORY_PORT port_{MEMORY_FIGURES};
    // Of a run, as the clock edge that comes next is counted; 0 while nothing runs.
    uint64_t cycle_ = 0;
#if VM_TRACE
    std::unique_ptr<Tracer> tracer_;
#endif
};

uint64_t take(std::istream& from) {
    uint64_t word = 0;
    from.read(reinterpret_cast<char*>(&word), sizeof word);
    return word;
}

void put(std::ostream& to, uint64_t word) {
    to.write(reinterpret_cast<const char*>(&word), sizeof word);
}

struct DataSet {
    std::vector<Words> images;
    Words scalars;
    Bytes memory;
};

DataSet take_data_set(std::istream& from) {
    DataSet data;
#define DEPTH(n, depth, enables) data.images.emplace_back(depth);
    ARRAYS(DEPTH)
#undef DEPTH
    for (Words& image : data.images)
        for (uint64_t& word : image) word = take(from);
    data.scalars.resize(SCALAR_COUNT);
    for (uint64_t& word : data.scalars) word = take(from);
    return data;
}

// What a run has left.
struct Left {
    std::vector<Words> images;
    Bytes memory;
    std::vector<uint32_t> written;
    bool operator!=(const Left& other) const {
        return images != other.images || memory != other.memory;
    }
};

MemoryContents* load(Bench& bench, const DataSet& data) {
    bench.load(data.images);
    MemoryContents* memory = bench.port().contents();
    if (memory) memory->load(data.memory);
    return memory;
}

Left run_on(Bench& bench, const DataSet& data, uint64_t limit, std::vector<Record>& records) {
    MemoryContents* memory = load(bench, data);
    const Record record = bench.run(data.scalars, limit);
    Left left{bench.read(), {}, {}};
    if (memory) {
        left.memory = memory->left();
        left.written = memory->written();
    }
    records.push_back(record);
    return left;
}

bool take_memory(MemoryPort& port, std::vector<DataSet>& data) {
    MemoryContents* memory = port.contents();
    if (!memory) return true;
    std::ifstream from("memory.bin", std::ios::binary);
    const auto take_bytes = [&](Bytes& bytes) {
        bytes.resize(memory->bytes());
        from.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
    };
    port.take(from);
    Bytes owners;
    take_bytes(owners);
    for (DataSet& set : data) take_bytes(set.memory);
    memory->set_up(std::move(owners), data.front().memory);
    return bool(from);
}

bool put_memory(const std::vector<Left>& results) {
    std::ofstream to("left.bin", std::ios::binary);
    for (const Left& left : results) {
        to.write(reinterpret_cast<const char*>(left.memory.data()), left.memory.size());
        to.write(reinterpret_cast<const char*>(left.written.data()), 4 * left.written.size());
    }
    to.close();
    return bool(to);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    const uint64_t limit = std::strtoull(argv[1], nullptr, 10);
    const uint64_t sets = std::strtoull(argv[2], nullptr, 10);
    const uint64_t runs = std::strtoull(argv[3], nullptr, 10);
    const uint64_t reset_cycle = std::strtoull(argv[4], nullptr, 10);
    std::ifstream input("inputs.bin", std::ios::binary);
    std::vector<DataSet> data;
    for (uint64_t set = 0; set < sets; ++set) data.push_back(take_data_set(input));
    if (!input) return 2;

    std::vector<Record> records;
    std::vector<Left> results;
    Broken broken{"done", ""};
    bool repeatable = true;
    try {
        Bench bench(argc > 5 ? argv[5] : nullptr);
        if (!take_memory(bench.port(), data)) return 2;
        bench.reset();
        if (reset_cycle) {
            load(bench, data.front());
            bench.begin(data.front().scalars, reset_cycle);
        }
        for (uint64_t run = 0; run < runs * sets; ++run) {
            const uint64_t set = run % sets;
            Left left = run_on(bench, data[set], limit, records);
            if (run < sets) {
                results.push_back(std::move(left));
            } else if (left != results[set] || !(records.back() == records[set])) {
                repeatable = false;
                results[set] = std::move(left);
            }
        }
    } catch (const Broken& caught) {
        broken = caught;
    }

    std::ofstream output("outputs.bin", std::ios::binary);
    for (const Left& left : results)
        for (const Words& image : left.images)
            for (uint64_t word : image) put(output, word);
    for (const Record& record : records) {
        put(output, record.cycles);
        put(output, record.returned);
        put(output, record.checksum);
        put(output, record.error);
    }
    output.close();
    if (!output || !put_memory(results)) return 2;
    std::printf("%s %zu %d %llu %llu %s\n", broken.outcome, records.size(), int(repeatable),
                (unsigned long long)broken.cycle, (unsigned long long)broken.byte,
                broken.message.c_str());
    return 0;
}
