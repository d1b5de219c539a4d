// What is behind the streams of a Verilated circuit: sources of words, and sinks. Does what
// rtlgen/sim/streams.py does, number for number.

#ifndef RTLGEN_STREAMS_H
#define RTLGEN_STREAMS_H

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "Vtop.h"
#include "axi_behaviour.h"
#include "broken.h"
#include "design.h"

constexpr uint64_t MOST_WAITING_CYCLES = 1000;

// Offers the words of an array, and holds what is offered until it is taken.
class Source {
public:
    Source() : pauses_(0) {}
    void forget() {
        left_.clear();
        offered_ = taken_ = false;
    }
    void begin(const std::vector<uint64_t>& image, uint64_t seed) {
        left_.insert(left_.end(), image.begin(), image.end());
        pauses_ = AxiPauses(seed);
    }
    bool done() const { return left_.empty(); }

    template <typename Data, typename Bit>
    void step(Data& data, Bit& valid, Bit ready, Bit& last) {
        pauses_.next_cycle();
        if (taken_) {
            left_.pop_front();
            offered_ = false;
        }
        offered_ = offered_ || (!left_.empty() && !pauses_.on(R));
        valid = offered_;
        if (offered_) {
            data = Data(left_.front());
            last = left_.size() == 1;
        }
        taken_ = offered_ && ready;
    }

private:
    std::deque<uint64_t> left_;
    bool offered_ = false, taken_ = false;
    AxiPauses pauses_;
};

// Takes the words of an array, and looks that they are offered as they should be.
class Sink {
public:
    Sink(const char* name, size_t depth) : name_(name), depth_(depth), pauses_(0) {}
    void forget() { begun_ = waits_ = false; }
    void begin(uint64_t seed) {
        image.clear();
        begun_ = true;
        pauses_ = AxiPauses(seed);
    }
    bool done() const { return image.size() == depth_; }

    template <typename Data, typename Bit>
    void step(Data data, Bit valid, Bit& ready, Bit last, uint64_t cycle) {
        pauses_.next_cycle();
        const bool takes = begun_ && !pauses_.on(W);
        ready = takes;
        if (waits_ && !(valid && word_ == data && last_ == bool(last)))
            throw Broken{"protocol", "the stream " + name_ +
                                         " does not hold a word that waits, in cycle " +
                                         std::to_string(cycle)};
        waits_ = valid && !takes;
        word_ = data;
        last_ = last;
        if (!takes || !valid) return;
        image.push_back(data);
        if (image.size() > depth_ || bool(last) != (image.size() == depth_))
            throw Broken{"protocol", "word " + std::to_string(image.size()) + " of " +
                                         std::to_string(depth_) + " of the stream " + name_ +
                                         (last ? " is" : " is not") + " its last one, in cycle " +
                                         std::to_string(cycle)};
    }

    std::vector<uint64_t> image;

private:
    std::string name_;
    size_t depth_;
    bool begun_ = false, waits_ = false, last_ = false;
    uint64_t word_ = 0;
    AxiPauses pauses_;
};

// All streams of the circuit. Images are those of all arrays of the host, by their numbers.
class Streams {
public:
    // The seed of pauses, of the job.
    uint64_t pauses = 0;

    void forget(Vtop& top) {
#define FORGET_SOURCE(n, k, depth, name) \
    source_##n.forget();                 \
    top.stream_##n##_tvalid = 0;
#define FORGET_SINK(n, k, depth, name) \
    sink_##n.forget();                 \
    top.stream_##n##_tready = 0;
        SOURCES(FORGET_SOURCE)
        SINKS(FORGET_SINK)
#undef FORGET_SOURCE
#undef FORGET_SINK
        (void)top;
    }

    void load(const std::vector<std::vector<uint64_t>>& images) {
#define LOAD(n, k, depth, name) source_##n.begin(images[n], pauses ? pauses + k : 0);
#define EMPTY(n, k, depth, name) sink_##n.begin(pauses ? pauses + k : 0);
        SOURCES(LOAD)
        SINKS(EMPTY)
#undef LOAD
#undef EMPTY
        (void)images;
    }

    // Between two clock edges.
    void step(Vtop& top, uint64_t cycle) {
#define OFFER(n, k, depth, name)                                                              \
    source_##n.step(top.stream_##n##_tdata, top.stream_##n##_tvalid, top.stream_##n##_tready, \
                    top.stream_##n##_tlast);
#define TAKE(n, k, depth, name)                                                             \
    sink_##n.step(top.stream_##n##_tdata, top.stream_##n##_tvalid, top.stream_##n##_tready, \
                  top.stream_##n##_tlast, cycle);
        SOURCES(OFFER)
        SINKS(TAKE)
#undef OFFER
#undef TAKE
        (void)top;
        (void)cycle;
    }

    // Let cycles go by until all words of a run have, and put those that came where they belong.
    template <typename Tick>
    void read(std::vector<std::vector<uint64_t>>& images,
              const std::vector<std::vector<uint64_t>>& given, Tick tick) {
        const auto wait = [&](const auto& end, const char* name, uint64_t depth) {
            for (uint64_t waited = 0; !end.done(); ++waited) {
                if (waited >= MOST_WAITING_CYCLES * depth)
                    throw Broken{"hang", std::string("the stream ") + name +
                                             " has not ended behind the run"};
                tick();
            }
        };
#define FINISH_SOURCE(n, k, depth, name) \
    wait(source_##n, name, depth);       \
    images[n] = given[n];
#define FINISH_SINK(n, k, depth, name) \
    wait(sink_##n, name, depth);       \
    images[n] = sink_##n.image;
        SOURCES(FINISH_SOURCE)
        SINKS(FINISH_SINK)
#undef FINISH_SOURCE
#undef FINISH_SINK
        (void)images;
        (void)given;
        (void)wait;
    }

private:
#define MAKE_SOURCE(n, k, depth, name) Source source_##n;
#define MAKE_SINK(n, k, depth, name) Sink sink_##n{name, depth};
    SOURCES(MAKE_SOURCE)
    SINKS(MAKE_SINK)
#undef MAKE_SOURCE
#undef MAKE_SINK
};

#endif
