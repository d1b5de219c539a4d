// The host of a block: its AXI4-Lite port, driven by the block's own C driver.

#ifndef RTLGEN_REGISTER_HOST_H
#define RTLGEN_REGISTER_HOST_H

#include <cstring>
#include <string>
#include <vector>

#include "circuit.h"

uint32_t rtlgen_read32(uint32_t offset);
void rtlgen_write32(uint32_t offset, uint32_t value);
#include DRIVER_FILE

constexpr uint64_t MOST_BUS_CYCLES = 1000;

template <typename Type>
uint64_t bits_of(Type value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

class Host {
public:
    explicit Host(const char* trace) : circuit_(trace), top_(circuit_.top()) {
        current() = this;
        device_.wait = [](DEVICE*) { current()->wait(); };
    }

    // Of the one circuit of this program.
    static Host*& current() {
        static Host* host = nullptr;
        return host;
    }

    MemoryPort& port() { return circuit_.port(); }
    Streams& streams() { return circuit_.streams(); }

    void reset() {
        top_.control_awvalid = top_.control_wvalid = top_.control_arvalid = 0;
        circuit_.reset();
        if (DRIVER(open)(&device_))
            throw Broken{"protocol", "the signature of the registers is not the driver's"};
        DRIVER(enable_interrupt)(&device_, 1, 0);
    }

    void load(const std::vector<Words>& images) {
#define WRITE(n, depth, name, type)                                              \
    {                                                                            \
        std::vector<type> values(depth);                                         \
        for (size_t k = 0; k < depth; ++k) std::memcpy(&values[k], &images[n][k], sizeof(type)); \
        DRIVER(write_##name)(&device_, values.data());                           \
    }
        BLOCK_ARRAYS(WRITE)
#undef WRITE
        streams().load(images);
        given_ = images;
    }

    std::vector<Words> read() {
        std::vector<Words> images(ARRAY_COUNT);
#define READ(n, depth, name, type)                                               \
    {                                                                            \
        std::vector<type> values(depth);                                         \
        DRIVER(read_##name)(&device_, values.data());                            \
        images[n].assign(depth, 0);                                              \
        for (size_t k = 0; k < depth; ++k) std::memcpy(&images[n][k], &values[k], sizeof(type)); \
    }
        BLOCK_ARRAYS(READ)
#undef READ
        streams().read(images, given_, [this] { step(); });
        return images;
    }

    void begin(const Words& scalars, uint64_t last_cycle) {
        start(scalars);
        while (circuit_.cycle && circuit_.cycle < last_cycle) step();
        reset();
    }

    Record run(const Words& scalars, uint64_t limit) {
        limit_ = limit;
        start(scalars);
        const int code = DRIVER(wait)(&device_);
        DRIVER(acknowledge_interrupt)(&device_);
        const bool is_answer = code >= ERROR_READ && code <= ERROR_ANSWER;
        if (code && !is_answer)
            throw Broken{"protocol", "register ERROR is " + std::to_string(code) + " after a run"};
        Told told{};
        told.error = is_answer;
        told.write = code == ERROR_WRITE;
        if (is_answer) {
            told.response = rtlgen_read32(AT(ERROR)) >> ERROR_RESPONSE_BIT & 3;
            told.address = ERROR_ADDRESS(&device_);
        }
        const Record record{DRIVER(cycles)(&device_), RETURNED(&device_), CHECKSUM(&device_),
                            port().error(told)};
#ifdef HAS_TWINS
        DRIVER(swap)(&device_);
#endif
        return record;
    }

    uint32_t read32(uint32_t offset) {
        top_.control_araddr = offset;
        top_.control_arvalid = 1;
        top_.control_rready = 1;
        top_.eval();
        await([&] { return top_.control_arready; });
        step();
        top_.control_arvalid = 0;
        top_.eval();
        await([&] { return top_.control_rvalid; });
        const uint32_t value = top_.control_rdata;
        require_okay(top_.control_rresp, "read", offset);
        step();
        top_.control_rready = 0;
        top_.eval();
        return value;
    }

    void write32(uint32_t offset, uint32_t value) {
        top_.control_awaddr = offset;
        top_.control_awvalid = 1;
        top_.control_wdata = value;
        top_.control_wstrb = 15;
        top_.control_wvalid = 1;
        top_.control_bready = 1;
        top_.eval();
        await([&] { return top_.control_awready && top_.control_wready && top_.control_bvalid; });
        require_okay(top_.control_bresp, "write", offset);
        // The edge that takes the answer to a start is the one at which the kernel sees it.
        if (offset == AT(CTRL) && value & 1) {
            circuit_.cycle = 1;
            circuit_.tick();
        } else {
            step();
        }
        top_.control_awvalid = top_.control_wvalid = top_.control_bready = 0;
        top_.eval();
    }

private:
    void start(const Words& scalars) {
        size_t scalar = 0;
#define SET(name, type)                                        \
    {                                                          \
        type value;                                            \
        std::memcpy(&value, &scalars[scalar++], sizeof value); \
        DRIVER(set_##name)(&device_, value);                   \
    }
        BLOCK_SCALARS(SET)
#undef SET
#define PLACE(name, address) DRIVER(place_##name)(&device_, address);
        BLOCK_BASES(PLACE)
#undef PLACE
        (void)scalar;
        (void)scalars;
        DRIVER(start)(&device_);
        // They are captured at start: from here on they may be anything.
#define SPOIL(name, address) DRIVER(place_##name)(&device_, ~uint64_t(address));
        BLOCK_BASES(SPOIL)
#undef SPOIL
    }

    // A clock cycle; the interrupt says that the run is over.
    void step() {
        if (circuit_.cycle && top_.irq) circuit_.cycle = 0;
        if (circuit_.cycle) ++circuit_.cycle;
        circuit_.tick();
    }

    void wait() {
        while (!top_.irq) {
            // The interrupt comes two cycles behind done.
            if (circuit_.cycle > limit_ + 2)
                throw Broken{"hang", "no done within " + std::to_string(limit_) + " cycles"};
            step();
        }
        circuit_.cycle = 0;
    }

    template <typename Predicate>
    void await(Predicate is_there) {
        for (uint64_t waited = 0; !is_there(); ++waited) {
            if (waited > MOST_BUS_CYCLES)
                throw Broken{"protocol", "the AXI4-Lite port does not answer"};
            step();
        }
    }

    void require_okay(unsigned response, const char* what, uint32_t offset) {
        if (response)
            throw Broken{"protocol", std::string("a ") + what + " of register byte " +
                                         std::to_string(offset) + " is answered with " +
                                         std::to_string(response)};
    }

    Circuit circuit_;
    std::vector<Words> given_;
    Vtop& top_;
    DEVICE device_{};
    uint64_t limit_ = 0;
};

inline uint32_t rtlgen_read32(uint32_t offset) { return Host::current()->read32(offset); }
inline void rtlgen_write32(uint32_t offset, uint32_t value) {
    Host::current()->write32(offset, value);
}

#endif
