/* Comments of C are found by a state machine. */
int comment_bytes(const char text[40])
{
  enum { CODE, SLASH, COMMENT, STAR } state = CODE;
  int n = 0;
  for (int i = 0; i < 40; i++) {
    char c = text[i];
    switch (state) {
    case CODE:
      if (c == '/')
        state = SLASH;
      break;
    case SLASH:
      state = c == '*' ? COMMENT : c == '/' ? SLASH : CODE;
      break;
    case STAR:
      if (c == '/') {
        state = CODE;
        break;
      }
      /* fall through */
    case COMMENT:
      n++;
      state = c == '*' ? STAR : COMMENT;
    }
  }
  return n;
}
