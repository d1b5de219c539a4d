// Carries out a job on a Verilated circuit without Python: for runs of millions of cycles.
//
// The model is the generated module rtlgen_native_top (rtlgen/sim/native_engine.py writes it and design.h),
// which gives every port of the circuit a name that is safe in C++. Does what rtlgen/sim/kernel_bench.py
// does through cocotb, by the same rules: inputs change while the clock is low, and what is seen
// just before a rising edge is what that edge samples.
//
// usage: simulation [TRACE]
//
// It takes one job after the other from standard input and answers each on standard output, until a 0
// comes in place of a job. All but the bytes of memories and the text of an answer are words of 8
// bytes, little-endian.
// A job: 1, LIMIT_CYCLES, DATA_SETS, RUNS, RESET_CYCLE; with a memory off chip then, for AXI4, how it
// behaves (axi_behaviour.h), and whose each byte is; then of each data set the words of each array, the
// scalars, and the bytes of the memory off chip. A reset comes first, then all data sets are run one
// after the other, RUNS times. With a RESET_CYCLE, there is one run on the first data set before all
// others, which a reset ends in that cycle.
// An answer: the number of RUNS that came to their end, of DATA_SETS that were reached, REPEATABLE,
// CYCLE and BYTE of what broke a rule (broken.h), LENGTH of the text; the text, which is the outcome, a
// space and the message; cycles, return value, checksum and error of each run; of each data set that
// was reached the words of each array, then the bytes of the memory off chip and, 4 bytes each, the
// cycles in which they were last written.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

constexpr uint64_t HALF_CYCLE_PS = 5000;  // As rtlgen/sim/host.py has it.

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
        show();
        top_->final();
#if VM_TRACE
        if (tracer_) tracer_->close();
#endif
    }

    void reset() {
        top_->reset = 1;
        top_->start = 0;
        release();
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

    // One clock cycle, from low to low: the inputs that were set are sampled by its rising edge. A
    // reader of the waves sees them from the falling edge before it on.
    void tick() {
        show();
        // Verilator propagates changed inputs before it looks for clock edges.
        top_->clock = 1;
        top_->eval();
        port_.after_edge(*top_, cycle_);
        show();
        top_->clock = 0;
        top_->eval();
        port_.before_edge(*top_, cycle_);
    }

    // Write what the signals are in this half of a cycle.
    void show() {
#if VM_TRACE
        if (!tracer_) return;
        top_->eval();
        tracer_->dump(context_.time());
        context_.timeInc(HALF_CYCLE_PS);
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

// What came from the other side, or goes there, has another length than it should: it is gone.
struct Cut {};

class Input {
public:
    void bytes(void* to, size_t count) {
        if (std::fread(to, 1, count, stdin) != count) throw Cut();
    }
    uint64_t word() {
        uint64_t found;
        bytes(&found, sizeof found);
        return found;
    }
    void words(Words& to) { bytes(to.data(), to.size() * sizeof to.front()); }
};

class Output {
public:
    // What the model prints belongs into the log, where standard error goes.
    Output() : to_(fdopen(dup(1), "wb")) {
        if (!to_ || dup2(2, 1) < 0) throw Cut();
    }
    void bytes(const void* from, size_t count) {
        if (std::fwrite(from, 1, count, to_) != count) throw Cut();
    }
    void word(uint64_t word) { bytes(&word, sizeof word); }
    void words(const Words& from) { bytes(from.data(), from.size() * sizeof from.front()); }
    void flush() {
        if (std::fflush(to_)) throw Cut();
    }

private:
    std::FILE* to_;
};

struct DataSet {
    std::vector<Words> images;
    Words scalars;
    Bytes memory;
};

// What a run has left.
struct Left {
    std::vector<Words> images;
    Bytes memory;
    std::vector<uint32_t> written;
    bool operator!=(const Left& other) const {
        return images != other.images || memory != other.memory;
    }
};

struct Job {
    uint64_t limit, runs, reset_cycle;
    Bytes owners;
    std::vector<DataSet> data;
};

DataSet take_data_set(Input& from, const MemoryContents* memory) {
    DataSet data;
#define DEPTH(n, depth, enables) data.images.emplace_back(depth);
    ARRAYS(DEPTH)
#undef DEPTH
    for (Words& image : data.images) from.words(image);
    data.scalars.resize(SCALAR_COUNT);
    from.words(data.scalars);
    if (memory) {
        data.memory.resize(memory->bytes());
        from.bytes(data.memory.data(), data.memory.size());
    }
    return data;
}

Job take_job(Input& from, MemoryPort& port) {
    Job job;
    job.limit = from.word();
    const uint64_t sets = from.word();
    job.runs = from.word();
    job.reset_cycle = from.word();
    const MemoryContents* memory = port.contents();
    if (memory) {
        port.take([&] { return from.word(); });
        job.owners.resize(memory->bytes());
        from.bytes(job.owners.data(), job.owners.size());
    }
    for (uint64_t set = 0; set < sets; ++set) job.data.push_back(take_data_set(from, memory));
    return job;
}

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

struct Answer {
    Broken broken{"done", ""};
    bool repeatable = true;
    std::vector<Record> records;
    std::vector<Left> results;
};

Answer carry_out(Bench& bench, Job job) {
    Answer answer;
    const size_t sets = job.data.size();
    try {
        MemoryContents* memory = bench.port().contents();
        if (memory) memory->set_up(std::move(job.owners), job.data.front().memory);
        bench.reset();
        if (job.reset_cycle) {
            load(bench, job.data.front());
            bench.begin(job.data.front().scalars, job.reset_cycle);
        }
        for (uint64_t run = 0; run < job.runs * sets; ++run) {
            const uint64_t set = run % sets;
            Left left = run_on(bench, job.data[set], job.limit, answer.records);
            if (run < sets) {
                answer.results.push_back(std::move(left));
            } else if (left != answer.results[set] ||
                       !(answer.records.back() == answer.records[set])) {
                answer.repeatable = false;
                answer.results[set] = std::move(left);
            }
        }
    } catch (const Broken& caught) {
        answer.broken = caught;
    }
    return answer;
}

void put(Output& to, const Answer& answer) {
    const Broken& broken = answer.broken;
    const std::string text = std::string(broken.outcome) + " " + broken.message;
    const uint64_t head[] = {answer.records.size(), answer.results.size(), answer.repeatable,
                             broken.cycle,          broken.byte,           text.size()};
    to.bytes(head, sizeof head);
    to.bytes(text.data(), text.size());
    for (const Record& record : answer.records)
        for (uint64_t word : {record.cycles, record.returned, record.checksum, record.error})
            to.word(word);
    for (const Left& left : answer.results) {
        for (const Words& image : left.images) to.words(image);
        to.bytes(left.memory.data(), left.memory.size());
        to.bytes(left.written.data(), left.written.size() * sizeof(uint32_t));
    }
    to.flush();
}

}  // namespace

int main(int argc, char** argv) {
    // Who asks may be interrupted at a terminal, and ask again.
    std::signal(SIGINT, SIG_IGN);
    try {
        Output output;
        Input input;
        Bench bench(argc > 1 ? argv[1] : nullptr);
        while (input.word()) put(output, carry_out(bench, take_job(input, bench.port())));
    } catch (const Cut&) {
        return 2;
    }
    return 0;
}
