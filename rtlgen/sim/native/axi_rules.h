// The rules of an AXI4 port that hold for its pins alone: what waits is held, and which bursts there
// may be. Says what rtlgen/sim/axi_model.py says, in the same words.

#ifndef RTLGEN_AXI_RULES_H
#define RTLGEN_AXI_RULES_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "axi_pins.h"
#include "broken.h"

constexpr uint64_t AXI_INCR = 1, AXI_MOST_BEATS = 16, AXI_PAGE_BYTES = 4096;

[[noreturn]] inline void axi_broken(uint64_t cycle, const std::string& what) {
    throw Broken{"memory", "cycle " + std::to_string(cycle) + " " + what};
}

// Require that what waited for its ready is still there as it was.
inline void require_held(const char* channel, const AxiAddress& before, const AxiAddress& now,
                         uint64_t cycle) {
    const char* changed = !now.valid                    ? "valid"
                          : now.id != before.id         ? "id"
                          : now.addr != before.addr     ? "addr"
                          : now.len != before.len       ? "len"
                          : now.size != before.size     ? "size"
                          : now.burst != before.burst   ? "burst"
                          : now.cache != before.cache   ? "cache"
                          : now.prot != before.prot     ? "prot"
                                                        : nullptr;
    if (changed)
        axi_broken(cycle, std::string("changes ") + channel + changed + " before " + channel +
                              "ready was high");
}

inline void require_held(const AxiWord& before, const AxiWord& now, uint64_t cycle) {
    const char* changed = !now.valid                      ? "valid"
                          : now.strobes != before.strobes ? "strb"
                          : now.last != before.last       ? "last"
                                                          : nullptr;
    for (size_t place = 0; !changed && place < MOST_WORD_BYTES; ++place)
        if (now.strobes >> place & 1 && now.data[place] != before.data[place]) changed = "data";
    if (changed)
        axi_broken(cycle, std::string("changes w") + changed + " before wready was high");
}

inline std::string hex(uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    return text;
}

// An array: the address of its first byte, that byte in the map of the memory, and how many it has.
struct AxiPlace {
    uint64_t address, first_byte, bytes;
};

using AxiPlaces = std::vector<AxiPlace>;

// Return the places that `take` gives word by word: how many there are, then the figures of each.
template <typename Take>
AxiPlaces take_places(Take&& take) {
    AxiPlaces places(take());
    for (AxiPlace& place : places)
        for (uint64_t* figure : {&place.address, &place.first_byte, &place.bytes}) *figure = take();
    return places;
}

constexpr uint64_t NOWHERE = ~uint64_t(0);

// Return the byte of the map that an address is; NOWHERE where `size` bytes are in no array.
inline uint64_t byte_at(const AxiPlaces& places, uint64_t address, uint64_t size) {
    for (const AxiPlace& place : places)
        if (place.address <= address && address + size <= place.address + place.bytes)
            return place.first_byte + address - place.address;
    return NOWHERE;
}

// Return the address of a byte of the map, which is in an array.
inline uint64_t address_of(const AxiPlaces& places, uint64_t byte) {
    for (const AxiPlace& place : places)
        if (byte - place.first_byte < place.bytes) return place.address + byte - place.first_byte;
    return NOWHERE;
}

// Require that a burst is one of those that are allowed, in an array.
inline void require_burst(const char* channel, const AxiAddress& now, uint64_t word_bytes,
                          const AxiPlaces& places, uint64_t cycle) {
    const auto broken = [&](const std::string& what) {
        axi_broken(cycle, std::string("asks on ") + channel + " for " + what);
    };
    const uint64_t beats = now.len + 1, end = now.addr + beats * word_bytes;
    if (now.burst != AXI_INCR) broken("a burst of type " + std::to_string(now.burst));
    if (now.size > 6 || uint64_t(1) << now.size != word_bytes)
        broken("words of size " + std::to_string(now.size) + ", which are not of " +
               std::to_string(word_bytes) + " bytes");
    if (beats > AXI_MOST_BEATS) broken("a burst of " + std::to_string(beats) + " words");
    if (now.addr % word_bytes)
        broken("address " + hex(now.addr) + ", not on a word of " + std::to_string(word_bytes) +
               " bytes");
    if (now.addr / AXI_PAGE_BYTES != (end - 1) / AXI_PAGE_BYTES)
        broken("a burst across address " + hex((end - 1) / AXI_PAGE_BYTES * AXI_PAGE_BYTES));
    if (byte_at(places, now.addr, end - now.addr) == NOWHERE)
        broken("addresses " + hex(now.addr) + " to " + hex(end - 1) + ", which are in no array");
}

inline std::string axi_response(uint64_t address, uint64_t write, uint64_t response) {
    return "response " + std::to_string(response) + " to a " + (write ? "write" : "read") + " at " +
           hex(address);
}

// Require that the circuit tells of the first answer that was an error, or of none; `was` is
// AxiMemory's.
inline void require_told(uint64_t address, uint64_t write, uint64_t response, uint64_t was) {
    if (address == was >> 3 && write == (was >> 2 & 1) && response == (was & 3)) return;
    throw Broken{"memory",
                 "the circuit tells of " + axi_response(address, write, response) + "; " +
                     (was ? "the first error was " +
                                axi_response(was >> 3, was >> 2 & 1, was & 3)
                          : "there was none")};
}

#endif
