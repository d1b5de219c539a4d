/* Constants of C23. */
constexpr int size = 10;
constexpr unsigned char key[4] = {0x13, 0x37, 0xC0, 0xDE};
void encrypt(unsigned char data[size])
{
  static_assert(size <= 16);
  for (int i = 0; i < size; i++)
    data[i] ^= key[i % 4];
}
