/* Shifts the wall clock of one program by the nanoseconds in the file that SOAK_CLOCK names; preloaded.
   Time that only counts up (CLOCK_MONOTONIC) is left alone, as when somebody sets a machine's clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("SOAK_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    real = dlsym(RTLD_NEXT, "clock_gettime");
    if (file < 0) return;
    void *there = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    if (there != MAP_FAILED) shift = there;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *told) {
    int failed = real(which, told);
    if (!failed && shift && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        int64_t at = told->tv_sec * 1000000000LL + told->tv_nsec + *shift;
        told->tv_sec = at / 1000000000LL;
        told->tv_nsec = at % 1000000000LL;
    }
    return failed;
}

int gettimeofday(struct timeval *restrict told, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
