static int isdigit(int c) { return c >= 48 && c <= 57; }
static int isupper(int c) { return c >= 65 && c <= 90; }
static int islower(int c) { return c >= 97 && c <= 122; }
static int isalpha(int c) { return isupper(c) || islower(c); }
static int isalnum(int c) { return isalpha(c) || isdigit(c); }
static int isxdigit(int c) { return isdigit(c) || c >= 65 && c <= 70 || c >= 97 && c <= 102; }
static int isspace(int c) { return c == 32 || c >= 9 && c <= 13; }
static int isblank(int c) { return c == 32 || c == 9; }
static int iscntrl(int c) { return c >= 0 && c < 32 || c == 127; }
static int isprint(int c) { return c >= 32 && c <= 126; }
static int isgraph(int c) { return c >= 33 && c <= 126; }
static int ispunct(int c) { return isgraph(c) && !isalnum(c); }
static int isascii(int c) { return c >= 0 && c <= 127; }
static int toupper(int c) { return islower(c) ? c - 32 : c; }
static int tolower(int c) { return isupper(c) ? c + 32 : c; }
static int toascii(int c) { return c & 127; }
