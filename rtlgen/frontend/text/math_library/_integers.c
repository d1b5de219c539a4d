/* What circuits count with. */
#pragma once
#include <stdint.h>

/* A product that takes one multiplier block. */
static uint64_t rtlgen_product(uint64_t a, uint64_t b) { return (a & 0x1ffff) * (b & 0x1ffff); }

/* a b 2^-64, of which the least parts are left out: with 10, 6 and 3 multiplier blocks */
static uint64_t rtlgen_high(uint64_t a, uint64_t b)
{
  uint64_t a3 = a >> 48, a2 = a >> 32 & 0xffff, a1 = a >> 16 & 0xffff, a0 = a & 0xffff;
  uint64_t b3 = b >> 48, b2 = b >> 32 & 0xffff, b1 = b >> 16 & 0xffff, b0 = b & 0xffff;
  return (a3 * b3 << 32) + (a3 * b2 + a2 * b3 << 16) + (a3 * b1 + a2 * b2 + a1 * b3)
         + (a3 * b0 + a2 * b1 + a1 * b2 + a0 * b3 >> 16);
}
static uint64_t rtlgen_middle(uint64_t a, uint64_t b)
{
  uint64_t a3 = a >> 48, a2 = a >> 32 & 0xffff, a1 = a >> 16 & 0xffff;
  uint64_t b3 = b >> 48, b2 = b >> 32 & 0xffff, b1 = b >> 16 & 0xffff;
  return (a3 * b3 << 32) + (a3 * b2 + a2 * b3 << 16) + (a3 * b1 + a2 * b2 + a1 * b3);
}
static uint64_t rtlgen_short(uint64_t a, uint64_t b)
{
  uint64_t a3 = a >> 48, a2 = a >> 32 & 0xffff, b3 = b >> 48, b2 = b >> 32 & 0xffff;
  return (a3 * b3 << 32) + (a3 * b2 + a2 * b3 << 16);
}

/* Leading zeros of 64 bits, of 0 one less, by the highest group of 16 that is not 0 and of that of four. */
static uint32_t rtlgen_sixteen(uint64_t v) { return v >> 48 ? v >> 48 : v >> 32 ? v >> 32 : v >> 16 ? v >> 16 : v; }
static uint32_t rtlgen_four(uint32_t v) { return v >> 12 ? v >> 12 : v >> 8 ? v >> 8 : v >> 4 ? v >> 4 : v; }
static uint32_t rtlgen_zeros(uint64_t v, uint32_t sixteen, uint32_t four)
{
  return (v >> 48 ? 0 : v >> 32 ? 16 : v >> 16 ? 32 : 48) + (sixteen >> 12 ? 0 : sixteen >> 8 ? 4 : sixteen >> 4 ? 8 : 12)
         + (four >> 2 ? !(four >> 3) : 2 + !(four >> 1));
}
