// The memory off chip of a simulation, behind an AXI4 port, and the monitor of that port. Does what
// rtlgen/sim/axi_model.py does, cycle for cycle and by the same rules. It knows nothing of Verilator.

#ifndef RTLGEN_AXI_MEMORY_H
#define RTLGEN_AXI_MEMORY_H

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "axi_behaviour.h"
#include "axi_pins.h"
#include "axi_rules.h"
#include "broken.h"
#include "memory_contents.h"

class AxiMemory : public MemoryContents {
public:
    AxiMemory(size_t word_bytes, uint64_t depth_words, uint64_t latency_cycles, bool is_dram,
              AxiPlaces places)
        : MemoryContents(word_bytes, depth_words),
          latency_(latency_cycles),
          is_dram_(is_dram),
          places_(std::move(places)) {}

    // Begin anew, as after a reset, all but the contents.
    void reset(const AxiBehaviour& behaviour) {
        behaviour_ = behaviour;
        reads_.clear();
        writes_.clear();
        now_ = read_count_ = write_count_ = 0;
        surplus_answers_ = out_of_step_ = 0;
        begin();
        waits_ = AxiOutputs();
        drives_ = AxiInputs();
    }

    // The first response of this run that was an error, or 0: the address of the word that was read,
    // or of the first one of the burst that was written, then a bit for a write, then the response.
    uint64_t error() const { return error_; }

    // Return what the memory drives in the cycle that has just begun. `cycle` is that of the run, 0
    // while nothing runs. What is read in the cycle in which a write is done is what was there
    // before.
    const AxiInputs& drive(uint64_t cycle) {
        ++now_;
        if (!cycle) require_nothing_open();
        if (cycle == 1) begin();
        pauses_.next_cycle();
        offer_word();
        offer_answer(cycle);
        drives_.arready =
            !pauses_.on(AR) &&
            (!behaviour_.outstanding || reads_.size() < behaviour_.outstanding);
        const Write* to_take = first([](const Write& write) { return !write.is_taken; });
        const Write* to_fill = first([](const Write& write) { return !write.is_full(); });
        drives_.awready = !pauses_.on(AW) && (!pauses_.address_waits_for_word() ||
                                              (to_take && to_take->is_offered));
        drives_.wready = !pauses_.on(W) && (!pauses_.word_waits_for_address() ||
                                            (to_fill && to_fill->is_taken));
        return drives_;
    }

    // Look at what both sides drive just before the edge that ends the cycle.
    void look(const AxiOutputs& seen, uint64_t cycle) {
        if (waits_.aw.valid) require_held("aw", waits_.aw, seen.aw, cycle);
        if (waits_.w.valid) require_held(waits_.w, seen.w, cycle);
        if (waits_.ar.valid) require_held("ar", waits_.ar, seen.ar, cycle);
        if (!cycle && (seen.aw.valid || seen.w.valid || seen.ar.valid))
            throw Broken{"memory", "the circuit asks for a burst while it is idle"};
        if (seen.aw.valid) look_at_write_address(seen.aw, cycle);
        if (seen.w.valid) look_at_word(seen.w, cycle);
        if (seen.ar.valid) look_at_read_address(seen.ar, cycle);
        if (drives_.rvalid && seen.rready) {
            Read& read = reads_.front();
            note(AXI_READ, read.word + read.done, drives_.rresp);
            if (read.done >= read.beats || drives_.rlast != (read.done == read.beats - 1))
                lose_step(AXI_READ);
            drives_.rvalid = false;
            if (++read.done == read.given()) reads_.pop_front();
        }
        if (drives_.bvalid && seen.bready) {
            drives_.bvalid = false;
            if (surplus_answers_) {
                --surplus_answers_;
                lose_step(AXI_WRITE);
            } else {
                note(AXI_WRITE, writes_.front().word, drives_.bresp);
                if (behaviour_.fault(AXI_WRITE, writes_.front().number) != NO_FAULT)
                    ++surplus_answers_;
                writes_.pop_front();
            }
        }
        waits_ = seen;
        waits_.aw.valid &= !drives_.awready;
        waits_.w.valid &= !drives_.wready;
        waits_.ar.valid &= !drives_.arready;
    }

private:
    struct Read {
        uint64_t id, word, beats, number, ready, fault, done;
        // Words that come, one at least.
        uint64_t given() const {
            if (fault == SURPLUS || fault == LATE) return beats + 1;
            return fault == MISSING && beats > 1 ? beats - 1 : beats;
        }
        // Whether rlast comes with the next word.
        bool has_last() const {
            if (fault == EARLY && beats > 1) return done == 0;
            if (fault == SURPLUS) return done == beats - 1;
            return fault != NEVER && done == given() - 1;
        }
    };

    // From the first cycle in which its address is valid.
    struct Write {
        uint64_t id, word, beats, number, ready;
        bool is_taken, is_offered;
        std::vector<AxiWord> words;
        bool is_full() const { return words.size() == beats; }
        bool is_due(uint64_t now) const { return is_taken && is_full() && ready <= now; }
    };

    // Do what is done at each start: the same run takes the same cycles.
    void begin() {
        pauses_ = AxiPauses(behaviour_.pauses);
        dram_ = AxiDram(behaviour_.dram, latency_);
        error_ = out_of_step_;
    }

    // Note that an answer was taken that was not asked for.
    void lose_step(AxiDirection direction) {
        if (!out_of_step_) out_of_step_ = error_ = direction << 2 | OUT_OF_STEP;
    }

    void note(AxiDirection direction, uint64_t word, uint64_t response) {
        // Addresses in simulations are below 2**61: three bits are left for the rest.
        if (response != OKAY && !error_)
            error_ = address_of(places_, word * word_bytes()) << 3 | direction << 2 | response;
    }

    template <typename Predicate>
    Write* first(Predicate is_it) {
        for (Write& write : writes_)
            if (is_it(write)) return &write;
        return nullptr;
    }

    void require_nothing_open() const {
        // Who is out of step does not know what else comes.
        if ((!reads_.empty() || !writes_.empty()) && behaviour_.faults.empty())
            throw Broken{"memory", "bursts that are not over when the circuit is idle: " +
                                       std::to_string(reads_.size()) + " to read, " +
                                       std::to_string(writes_.size()) + " to write"};
    }

    void look_at_write_address(const AxiAddress& seen, uint64_t cycle) {
        if (!waits_.aw.valid) {
            require_burst("aw", seen, word_bytes(), places_, cycle);
            writes_.push_back(Write{seen.id, word_of(seen), seen.len + 1,
                                    write_count_++, 0, false, false, {}});
        }
        if (!drives_.awready) return;
        Write& write = *first([](const Write& each) { return !each.is_taken; });
        write.is_taken = true;
        if (write.is_full()) arrive(write);
    }

    void look_at_word(const AxiWord& seen, uint64_t cycle) {
        Write* write = first([](const Write& each) { return !each.is_full(); });
        if (!write) axi_broken(cycle, "offers a word to write before the address of its burst");
        write->is_offered = true;
        const uint64_t place = write->words.size();
        if (seen.last != (place == write->beats - 1))
            axi_broken(cycle, std::string("has wlast ") + (seen.last ? "high" : "low") +
                                  " with word " + std::to_string(place + 1) + " of a burst of " +
                                  std::to_string(write->beats));
        require_writable(write->word + place, seen.strobes, cycle);
        if (!drives_.wready) return;
        write->words.push_back(seen);
        if (write->is_full() && write->is_taken) arrive(*write);
    }

    void look_at_read_address(const AxiAddress& seen, uint64_t cycle) {
        if (!waits_.ar.valid) require_burst("ar", seen, word_bytes(), places_, cycle);
        if (!drives_.arready) return;
        const uint64_t word = word_of(seen), beats = seen.len + 1;
        const uint64_t ready =
            has_one_bus() ? dram_.begin(seen.addr, beats, now_) : now_ + latency_;
        const uint64_t fault = behaviour_.fault(AXI_READ, read_count_);
        reads_.push_back(Read{seen.id, word, beats, read_count_++, ready, fault, 0});
    }

    uint64_t word_of(const AxiAddress& seen) const {
        return byte_at(places_, seen.addr, 1) / word_bytes();
    }

    bool has_one_bus() const { return is_dram_ || behaviour_.dram; }

    // All of a write is here.
    void arrive(Write& write) {
        const uint64_t address = address_of(places_, write.word * word_bytes());
        write.ready = has_one_bus() ? dram_.begin(address, write.beats, now_) + write.beats
                                    : now_ + latency_;
    }

    uint8_t response_at(AxiDirection direction, uint64_t word, uint64_t words) const {
        return behaviour_.response_at(direction, word * word_bytes(),
                                      (word + words) * word_bytes());
    }

    // Offer the next word that is read. While none is valid, all about it is wrong.
    void offer_word() {
        if (drives_.rvalid) return;
        const bool is_open = !reads_.empty();
        // What nobody has asked for is no word of the memory.
        const bool is_asked = is_open && reads_.front().done < reads_.front().beats;
        const uint8_t* data = word(is_open ? reads_.front().word : 0);
        if (is_asked) data = word(reads_.front().word + reads_.front().done);
        drives_.rvalid = is_open && reads_.front().ready <= now_ && !pauses_.on(R);
        drives_.rlast = true;
        drives_.rresp = SLVERR;
        if (drives_.rvalid) {
            const Read& read = reads_.front();
            drives_.rid = read.id;
            drives_.rlast = read.has_last();
            // One word of the burst alone says that there is an error.
            const bool is_marked = read.number % read.beats == read.done;
            drives_.rresp = response_at(AXI_READ, read.word + (is_asked ? read.done : 0), 1);
            if (is_marked && drives_.rresp == OKAY)
                drives_.rresp = behaviour_.response(AXI_READ, read.number);
        }
        const uint8_t flip = drives_.rvalid && drives_.rresp == OKAY && is_asked ? 0 : 0xff;
        for (size_t place = 0; place < word_bytes(); ++place)
            drives_.rdata[place] = data[place] ^ flip;
    }

    // Offer the next answer to a write, and write.
    void offer_answer(uint64_t cycle) {
        if (drives_.bvalid) return;
        drives_.bresp = SLVERR;
        if (surplus_answers_) {
            drives_.bvalid = true;
            drives_.bresp = OKAY;
            return;
        }
        if (writes_.empty() || !writes_.front().is_due(now_) || pauses_.on(B)) return;
        const Write& write = writes_.front();
        drives_.bvalid = true;
        drives_.bid = write.id;
        drives_.bresp = response_at(AXI_WRITE, write.word, write.beats);
        if (drives_.bresp == OKAY)
            drives_.bresp = behaviour_.response(AXI_WRITE, write.number);
        if (drives_.bresp != OKAY) return;
        for (uint64_t place = 0; place < write.beats; ++place)
            store(write.word + place, write.words[place].strobes, write.words[place].data, cycle);
    }

    uint64_t latency_;
    bool is_dram_;
    AxiPlaces places_;
    AxiBehaviour behaviour_;
    AxiPauses pauses_{0};
    AxiDram dram_{0, 0};
    std::deque<Read> reads_;
    std::deque<Write> writes_;
    // Cycles and bursts since the reset.
    uint64_t now_ = 0, read_count_ = 0, write_count_ = 0;
    uint64_t error_ = 0;
    // Answers to writes that nobody has asked for; the error of each run from such an answer on.
    uint64_t surplus_answers_ = 0, out_of_step_ = 0;
    // What has waited for its ready; what the memory drives.
    AxiOutputs waits_;
    AxiInputs drives_;
};

#endif
