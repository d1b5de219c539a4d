struct node { struct node *next; int value; };
void f(struct node p[8], int a[8]) {
  a[0] = p[0].next->value;
}
