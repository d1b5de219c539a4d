// Carries out a job on a Verilated circuit without Python: for runs of millions of cycles.
//
// The model is the generated module rtlgen_native_top (sim/native_engine.py writes it and design.h),
// which gives every port of the circuit a name that is safe in C++. Does what sim/kernel_bench.py
// does through cocotb, by the same rules: inputs change while the clock is low, and what is seen
// just before a rising edge is what that edge samples.
//
// usage: simulation LIMIT_CYCLES DATA_SETS RUNS [TRACE], in a folder with these files:
// inputs.bin: of each data set the words of each array, then the scalars, each as 8 bytes,
// little-endian.
// outputs.bin: of each data set that was run the words of each array, then cycles, return value and
// checksum of each run, likewise; all data sets are run one after the other, RUNS times.
// With a memory off chip, memory.bin: whose each byte is, then of each data set its bytes; and
// left.bin: of each data set that was run its bytes, then the cycle in which each was last written,
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
#include "verilated.h"
#ifdef MEMORY_WORD_BYTES
#include "fixed_memory.h"
#endif
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
    uint64_t cycles, returned, checksum;
    bool operator==(const Record& other) const {
        return cycles == other.cycles && returned == other.returned && checksum == other.checksum;
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
        tick();
        tick();
        top_->reset = 0;
        tick();
        expect_idle("after reset");
        serves_ = true;
    }

#ifdef MEMORY_WORD_BYTES
    FixedMemory& memory() { return memory_; }
#endif

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

    Record run(const Words& scalars, uint64_t limit) {
        size_t scalar = 0;
#define SET(name, mask) top_->name = scalars[scalar++];
        SCALARS(SET)
#undef SET
        top_->start = 1;
        cycle_ = 1;
        tick();
        top_->start = 0;
        scalar = 0;
        // Scalars are captured at start: from here on they may be anything.
#define SPOIL(name, mask) top_->name = ~scalars[scalar++] & mask;
        SCALARS(SPOIL)
#undef SPOIL
        top_->eval();
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
        cycle_ = 0;
        tick();
        expect_idle("in the cycle after done (cycle " + std::to_string(cycles) + ")");
        return Record{cycles, RETURNED(top_), CHECKSUM(top_)};
    }

private:
    // One clock cycle, from low to low: the inputs that were set are sampled by its rising edge.
    void tick() {
        // Verilator propagates changed inputs before it looks for clock edges.
        top_->clock = 1;
        top_->eval();
        serve();
        dump();
        context_.timeInc(5);
        top_->clock = 0;
        top_->eval();
        look_again();
        dump();
        context_.timeInc(5);
    }

#ifdef MEMORY_WORD_BYTES
    // The memory acts when the registers that hold a request have settled.
    void serve() {
        if (!serves_) return;
        uint8_t answer[MEMORY_WORD_BYTES];
        top_->memory_ack = memory_.serve(request(), cycle_, answer);
        std::memcpy(&top_->memory_rdata, answer, MEMORY_WORD_BYTES);
#if VM_TRACE
        // The evaluation at the falling edge would do, but a reader of the waves wants it here.
        if (tracer_) top_->eval();
#endif
    }

    void look_again() {
        if (serves_) memory_.look_again(request(), cycle_);
    }

    // Of any width, the lowest byte of a port comes first.
    Request request() {
        Request found;
        found.enable = top_->memory_en;
        if (!found.enable) return found;
        found.strobes = top_->memory_we;
        found.word = top_->memory_addr;
        std::memcpy(found.data, &top_->memory_wdata, MEMORY_WORD_BYTES);
        return found;
    }

    FixedMemory memory_{MEMORY_WORD_BYTES, MEMORY_DEPTH_WORDS, MEMORY_LATENCY_CYCLES};
#else
    void serve() {}
    void look_again() {}
#endif

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
    bool serves_ = false;
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

Left run_on(Bench& bench, const DataSet& data, uint64_t limit, std::vector<Record>& records) {
    bench.load(data.images);
#ifdef MEMORY_WORD_BYTES
    bench.memory().load(data.memory);
#endif
    const Record record = bench.run(data.scalars, limit);
    Left left{bench.read(), {}, {}};
#ifdef MEMORY_WORD_BYTES
    left.memory = bench.memory().left();
    left.written = bench.memory().written();
#endif
    records.push_back(record);
    return left;
}

#ifdef MEMORY_WORD_BYTES
bool take_memory(FixedMemory& memory, std::vector<DataSet>& data) {
    std::ifstream from("memory.bin", std::ios::binary);
    const auto take_bytes = [&](Bytes& bytes) {
        bytes.resize(memory.bytes());
        from.read(reinterpret_cast<char*>(bytes.data()), bytes.size());
    };
    Bytes owners;
    take_bytes(owners);
    for (DataSet& set : data) take_bytes(set.memory);
    memory.set_up(std::move(owners), data.front().memory);
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
#else
bool put_memory(const std::vector<Left>&) { return true; }
#endif

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    const uint64_t limit = std::strtoull(argv[1], nullptr, 10);
    const uint64_t sets = std::strtoull(argv[2], nullptr, 10);
    const uint64_t runs = std::strtoull(argv[3], nullptr, 10);
    std::ifstream input("inputs.bin", std::ios::binary);
    std::vector<DataSet> data;
    for (uint64_t set = 0; set < sets; ++set) data.push_back(take_data_set(input));
    if (!input) return 2;

    std::vector<Record> records;
    std::vector<Left> results;
    Broken broken{"done", ""};
    bool repeatable = true;
    try {
        Bench bench(argc > 4 ? argv[4] : nullptr);
#ifdef MEMORY_WORD_BYTES
        if (!take_memory(bench.memory(), data)) return 2;
#endif
        bench.reset();
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
    }
    output.close();
    if (!output || !put_memory(results)) return 2;
    std::printf("%s %zu %d %llu %llu %s\n", broken.outcome, records.size(), int(repeatable),
                (unsigned long long)broken.cycle, (unsigned long long)broken.byte,
                broken.message.c_str());
    return 0;
}
