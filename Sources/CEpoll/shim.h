/* The system's own way of waiting for many sockets; the C library's module leaves it out. */
#ifdef __linux__
#include <sys/epoll.h>
#endif
