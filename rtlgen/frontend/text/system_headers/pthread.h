typedef unsigned long pthread_t;
typedef struct { long state[5]; } pthread_mutex_t;
typedef struct { long state[7]; } pthread_attr_t;
typedef struct { long state[4]; } pthread_barrier_t;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
