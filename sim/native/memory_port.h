// What stands behind the memory port of the Verilated circuit: the class MemoryPort, of the kind that
// design.h says, one that does nothing where no memory is off chip.

#ifndef RTLGEN_MEMORY_PORT_H
#define RTLGEN_MEMORY_PORT_H

#include "design.h"

#if defined MEMORY_IS_AXI
#include "axi_port.h"
#elif defined MEMORY_IS_FIXED
#include "fixed_port.h"
#else
#include "no_port.h"
#endif

#endif
