/* Multiples of ln 2 from logic alone. */
#pragma once
#include <stdint.h>

/* n ln 2 in units of 2^-62, modulo 1, n < 16: one logic cell a bit */
static uint64_t rtlgen_ln2_modulo(uint32_t n)
{
  uint64_t from_0 = (n & 2 ? (n & 1 ? 0x51591f9dd5b9b41 : 0x18b90bfbe8e7bcd6) : (n & 1 ? 0x2c5c85fdf473de6b : 0));
  uint64_t from_4 = (n & 2 ? (n & 1 ? 0x3687a9f1af2b14ed : 0xa2b23f3bab73682) : (n & 1 ? 0x1dce9df5c6435817 : 0x317217f7d1cf79ac));
  uint64_t from_8 = (n & 2 ? (n & 1 ? 0x27f9c1e980fa8e99 : 0x3b9d3beb8c86b02e) : (n & 1 ? 0xf40b5ed9812d1c3 : 0x22e42fefa39ef358));
  uint64_t from_12 = (n & 2 ? (n & 1 ? 0x196bd9e152ca0845 : 0x2d0f53e35e5629da) : (n & 1 ? 0xb2cde569e24b6f : 0x145647e7756e6d04));
  return n & 8 ? (n & 4 ? from_12 : from_8) : n & 4 ? from_4 : from_0;
}

/* n ln 2 in units of 2^-57, n < 16: one logic cell a bit */
static uint64_t rtlgen_ln2_times(uint32_t n)
{
  uint64_t from_0 = (n & 2 ? (n & 1 ? 0x428ac8fceeadcd9 : 0x2c5c85fdf473de6) : (n & 1 ? 0x162e42fefa39ef3 : 0));
  uint64_t from_4 = (n & 2 ? (n & 1 ? 0x9b43d4f8d7958a5 : 0x851591f9dd5b9b2) : (n & 1 ? 0x6ee74efae321abf : 0x58b90bfbe8e7bcc));
  uint64_t from_8 = (n & 2 ? (n & 1 ? 0xf3fce0f4c07d471 : 0xddce9df5c64357e) : (n & 1 ? 0xc7a05af6cc0968b : 0xb17217f7d1cf798));
  uint64_t from_12 = (n & 2 ? (n & 1 ? 0x14cb5ecf0a96503d : 0x13687a9f1af2b14a) : (n & 1 ? 0x1205966f2b4f1257 : 0x10a2b23f3bab7364));
  return n & 8 ? (n & 4 ? from_12 : from_8) : n & 4 ? from_4 : from_0;
}
