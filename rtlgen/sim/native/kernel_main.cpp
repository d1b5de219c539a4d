// Carries out a job on a Verilated circuit without Python: for runs of millions of cycles.
//
// The model is the generated module rtlgen_native_top (rtlgen/sim/native_engine.py writes it and design.h),
// which gives every port of the circuit a name that is safe in C++; a host, of pins or of registers,
// drives it. Does what rtlgen/sim/kernel_bench.py does through cocotb, by the same rules: inputs change while the clock is low, and what is seen
// just before a rising edge is what that edge samples.
//
// usage: simulation [TRACE]
//
// It takes one job after the other from standard input and answers each on standard output, until a 0
// comes in place of a job. All but the bytes of memories and the text of an answer are words of 8
// bytes, little-endian.
// A job: 1, LIMIT_CYCLES, DATA_SETS, RUNS, RESET_CYCLE, PAUSES (the seed of those of streams); with a memory off chip then, for AXI4, how it
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
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "broken.h"
#include "design.h"
#include HOST_HEADER

namespace {

using Bytes = std::vector<uint8_t>;

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
    uint64_t limit, runs, reset_cycle, pauses;
    Bytes owners;
    std::vector<DataSet> data;
};

DataSet take_data_set(Input& from, const MemoryContents* memory) {
    DataSet data;
    for (uint64_t depth : std::initializer_list<uint64_t>{DEPTHS}) {
        data.images.emplace_back(depth);
        from.words(data.images.back());
    }
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
    job.pauses = from.word();
    const MemoryContents* memory = port.contents();
    if (memory) {
        port.take([&] { return from.word(); });
        job.owners.resize(memory->bytes());
        from.bytes(job.owners.data(), job.owners.size());
    }
    for (uint64_t set = 0; set < sets; ++set) job.data.push_back(take_data_set(from, memory));
    return job;
}

MemoryContents* load(Host& host, const DataSet& data) {
    host.load(data.images);
    MemoryContents* memory = host.port().contents();
    if (memory) memory->load(data.memory);
    return memory;
}

Left run_on(Host& host, const DataSet& data, uint64_t limit, std::vector<Record>& records) {
    MemoryContents* memory = load(host, data);
    const Record record = host.run(data.scalars, limit);
    Left left{host.read(), {}, {}};
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

Answer carry_out(Host& host, Job job) {
    Answer answer;
    const size_t sets = job.data.size();
    try {
        MemoryContents* memory = host.port().contents();
        if (memory) memory->set_up(std::move(job.owners), job.data.front().memory);
        host.reset();
        host.streams().pauses = job.pauses;
        if (job.reset_cycle) {
            load(host, job.data.front());
            host.begin(job.data.front().scalars, job.reset_cycle);
        }
        for (uint64_t run = 0; run < job.runs * sets; ++run) {
            const uint64_t set = run % sets;
            Left left = run_on(host, job.data[set], job.limit, answer.records);
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
        Host host(argc > 1 ? argv[1] : nullptr);
        while (input.word()) put(output, carry_out(host, take_job(input, host.port())));
    } catch (const Cut&) {
        return 2;
    }
    return 0;
}
