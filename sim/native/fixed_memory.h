// The memory off chip of a simulation: every access takes the same number of cycles. Does what
// sim/fixed_memory.py does through cocotb, by the same rules. It knows nothing of Verilator.

#ifndef RTLGEN_FIXED_MEMORY_H
#define RTLGEN_FIXED_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "broken.h"

// Whose a byte is; as in sim/memory_image.py.
enum Owner : uint8_t { NOBODYS, READ_ONLY, WRITABLE, LOCAL };

// What a circuit asks for in a cycle; without a strobe a read.
struct Request {
    bool enable = false;
    uint64_t strobes = 0;
    uint64_t word = 0;
    uint8_t data[64] = {};
};

class FixedMemory {
public:
    FixedMemory(size_t word_bytes, uint64_t depth_words, uint64_t latency_cycles)
        : size_(word_bytes), depth_(depth_words), latency_(latency_cycles) {}

    size_t bytes() const { return size_ * depth_; }

    // Say whose each byte is, and what is in them before the first run.
    void set_up(std::vector<uint8_t> owners, const std::vector<uint8_t>& image) {
        owners_ = std::move(owners);
        bytes_ = image;
        written_.assign(bytes(), 0);
    }

    // Take new contents, but for local arrays: what the last run left is what they have.
    void load(const std::vector<uint8_t>& image) {
        for (size_t byte = 0; byte < bytes(); ++byte)
            if (owners_[byte] != LOCAL) bytes_[byte] = image[byte];
        written_.assign(bytes(), 0);
    }

    // The contents, 0 for local arrays.
    std::vector<uint8_t> left() const {
        std::vector<uint8_t> found = bytes_;
        for (size_t byte = 0; byte < bytes(); ++byte)
            if (owners_[byte] == LOCAL) found[byte] = 0;
        return found;
    }

    // The cycle in which each byte was last written, 0 where it was not.
    const std::vector<uint32_t>& written() const { return written_; }

    // Answer what is asked just after a rising clock edge; return ack. `cycle` is that of the run, 0
    // while nothing runs. `answer` gets a word: without ack, the complement of the one asked for.
    bool serve(const Request& request, uint64_t cycle, uint8_t* answer) {
        age_ = open_ ? age_ + 1 : 1;
        if (request.enable && !cycle)
            throw Broken{"memory", "the circuit asks for a word while it is idle"};
        if (open_) require_held(request, cycle);
        held_ = request;
        open_ = request.enable;
        if (!open_) return false;
        if (request.word >= depth_)
            throw Broken{"memory", "cycle " + std::to_string(cycle) + " asks for word " +
                                       std::to_string(request.word) + " of a memory of " +
                                       std::to_string(depth_)};
        const bool ack = age_ == latency_;
        const uint8_t* word = &bytes_[request.word * size_];
        const uint8_t flip = ack && !request.strobes ? 0 : 0xff;
        for (size_t place = 0; place < size_; ++place) answer[place] = word[place] ^ flip;
        if (ack && request.strobes) store(request, cycle);
        open_ = !ack;
        return ack;
    }

    // Look again before the next edge: what comes from registers does not depend on the answer.
    void look_again(const Request& request, uint64_t cycle) const {
        if (held_.enable) require_held(request, cycle);
    }

private:
    void require_held(const Request& now, uint64_t cycle) const {
        const char* changed = nullptr;
        if (!now.enable)
            changed = "the enable";
        else if (now.strobes != held_.strobes)
            changed = "the strobes";
        else if (now.word != held_.word)
            changed = "the address";
        else
            for (size_t place = 0; place < size_; ++place)
                if (now.strobes >> place & 1 && now.data[place] != held_.data[place])
                    changed = "the data";
        if (changed)
            throw Broken{"memory", "cycle " + std::to_string(cycle) + " changes " + changed +
                                       " of an access before it is over"};
    }

    void store(const Request& request, uint64_t cycle) {
        for (size_t place = 0; place < size_; ++place) {
            if (!(request.strobes >> place & 1)) continue;
            const size_t byte = request.word * size_ + place;
            if (owners_[byte] == NOBODYS || owners_[byte] == READ_ONLY)
                throw Broken{"memory", "an over-store", cycle, byte};
            bytes_[byte] = request.data[place];
            written_[byte] = uint32_t(cycle);
        }
    }

    size_t size_;
    uint64_t depth_, latency_;
    std::vector<uint8_t> owners_, bytes_;
    std::vector<uint32_t> written_;
    Request held_;
    bool open_ = false;
    uint64_t age_ = 0;
};

#endif
