int ioctl(int file, unsigned long request, ...);
