#define SIZE 8
int broken(int x {
