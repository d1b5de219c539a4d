#define static_assert _Static_assert
void assert(int condition);
