/* The checksum of what a `void *` leads to. */
#include <stddef.h>
#include <stdint.h>
static uint32_t crc32(uint32_t crc, const void *data, size_t length)
{
  const uint8_t *p = data;
  while (length--) {
    crc ^= *p++;
    for (int k = 0; k < 8; k++)
      crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return crc;
}

uint32_t kernel(const void *packet, const char name[8])
{
  uint32_t crc = crc32(~0u, name, 8);
  return ~crc32(crc, packet, 16);
}
