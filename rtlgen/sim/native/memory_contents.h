// What is in the memory off chip of a simulation, and whose each byte is. Does what
// rtlgen/sim/off_chip.py does through cocotb. It knows nothing of Verilator.

#ifndef RTLGEN_MEMORY_CONTENTS_H
#define RTLGEN_MEMORY_CONTENTS_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "broken.h"

// Whose a byte is; as in rtlgen/sim/off_chip.py.
enum Owner : uint8_t { NOBODYS, READ_ONLY, WRITABLE, LOCAL };

constexpr size_t MOST_WORD_BYTES = 64;

class MemoryContents {
public:
    MemoryContents(size_t word_bytes, uint64_t depth_words)
        : size_(word_bytes), depth_(depth_words) {}

    size_t bytes() const { return size_ * depth_; }
    size_t word_bytes() const { return size_; }
    uint64_t depth_words() const { return depth_; }

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

    const uint8_t* word(uint64_t number) const { return &bytes_[number * size_]; }

    // Require that the bytes of a word that have a strobe may be written.
    void require_writable(uint64_t word, uint64_t strobes, uint64_t cycle) const {
        for (size_t place = 0; place < size_; ++place) {
            const size_t byte = word * size_ + place;
            if (strobes >> place & 1 && (owners_[byte] == NOBODYS || owners_[byte] == READ_ONLY))
                throw Broken{"memory", "an over-store", cycle, byte};
        }
    }

    void store(uint64_t word, uint64_t strobes, const uint8_t* data, uint64_t cycle) {
        for (size_t place = 0; place < size_; ++place) {
            if (!(strobes >> place & 1)) continue;
            const size_t byte = word * size_ + place;
            bytes_[byte] = data[place];
            written_[byte] = uint32_t(cycle);
        }
    }

private:
    size_t size_;
    uint64_t depth_;
    std::vector<uint8_t> owners_, bytes_;
    std::vector<uint32_t> written_;
};

#endif
