// The AXI4 port of a Verilated circuit.

#ifndef RTLGEN_AXI_PORT_H
#define RTLGEN_AXI_PORT_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "Vtop.h"
#include "axi_memory.h"
#include "memory_port.h"

class AxiPort : public MemoryPort {
public:
    AxiPort(size_t word_bytes, uint64_t depth_words, uint64_t latency_cycles, bool is_dram,
            AxiPlaces places)
        : memory_(word_bytes, depth_words, latency_cycles, is_dram, places),
          places_(std::move(places)) {}

    MemoryContents* contents() override { return &memory_; }

    void take(const std::function<uint64_t()>& word) override { behaviour_.take(word); }

    void enter_reset(Vtop& top) override {
        serves_ = false;
        top.memory_awready = top.memory_wready = top.memory_arready = 0;
        top.memory_bvalid = top.memory_rvalid = 0;
    }

    void reset() override {
        memory_.reset(behaviour_);
        serves_ = true;
    }

    void before_start(Vtop& top) override { drive_bases(top, 0); }
    void after_start(Vtop& top) override { drive_bases(top, ~uint64_t(0)); }

    void after_edge(Vtop& top, uint64_t cycle) override {
        if (!serves_) return;
        awvalid_ = top.memory_awvalid;
        wvalid_ = top.memory_wvalid;
        arvalid_ = top.memory_arvalid;
        const AxiInputs& drives = memory_.drive(cycle);
        top.memory_awready = drives.awready;
        top.memory_wready = drives.wready;
        top.memory_arready = drives.arready;
        top.memory_bvalid = drives.bvalid;
        top.memory_bid = drives.bid;
        top.memory_bresp = drives.bresp;
        top.memory_rvalid = drives.rvalid;
        top.memory_rlast = drives.rlast;
        top.memory_rid = drives.rid;
        top.memory_rresp = drives.rresp;
        std::memcpy(&top.memory_rdata, drives.rdata, memory_.word_bytes());
    }

    void before_edge(Vtop& top, uint64_t cycle) override {
        if (!serves_) return;
        // A valid that follows from a ready would wait for it.
        const char* changed = top.memory_awvalid != awvalid_   ? "awvalid"
                              : top.memory_wvalid != wvalid_   ? "wvalid"
                              : top.memory_arvalid != arvalid_ ? "arvalid"
                                                               : nullptr;
        if (changed)
            axi_broken(cycle, std::string("has ") + changed + " follow from what the memory drives");
        memory_.look(outputs(top), cycle);
    }

    uint64_t error(const Told& told) override {
        const uint64_t was = memory_.error();
        if (told.error != bool(was))
            throw Broken{"memory", was ? "an answer was an error, but the circuit does not say so"
                                       : "the circuit says that an answer was an error: none was"};
        require_told(told.address, told.write, told.response, was);
        return was;
    }

private:
    void drive_bases(Vtop& top, uint64_t spoilt) {
        char* base = reinterpret_cast<char*>(&top.memory_bases);
        for (const AxiPlace& place : places_) {
            const uint64_t address = place.address ^ spoilt;
            std::memcpy(base, &address, sizeof address);
            base += sizeof address;
        }
    }

    AxiOutputs outputs(Vtop& top) const {
        AxiOutputs found;
#define ADDRESS(channel)                                  \
    if ((found.channel.valid = top.memory_##channel##valid)) { \
        found.channel.id = top.memory_##channel##id;      \
        found.channel.addr = top.memory_##channel##addr;  \
        found.channel.len = top.memory_##channel##len;    \
        found.channel.size = top.memory_##channel##size;  \
        found.channel.burst = top.memory_##channel##burst; \
        found.channel.cache = top.memory_##channel##cache; \
        found.channel.prot = top.memory_##channel##prot;  \
    }
        ADDRESS(aw)
        ADDRESS(ar)
#undef ADDRESS
        if ((found.w.valid = top.memory_wvalid)) {
            found.w.last = top.memory_wlast;
            found.w.strobes = top.memory_wstrb;
            std::memcpy(found.w.data, &top.memory_wdata, memory_.word_bytes());
        }
        found.bready = top.memory_bready;
        found.rready = top.memory_rready;
        return found;
    }

    AxiMemory memory_;
    AxiPlaces places_;
    AxiBehaviour behaviour_;
    bool serves_ = false;
    // As the registers of the circuit have them.
    bool awvalid_ = false, wvalid_ = false, arvalid_ = false;
};

#endif
