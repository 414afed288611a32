/* Preloaded into a node and all that it starts: CLOCK_MONOTONIC_RAW runs faster by RAW_CLOCK_PPM
   millionths than all other clocks, as it does beside a CLOCK_BOOTTIME that NTP slews slow. Other
   clocks are read as they are, and so are those of a program that is not told a rate. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* at) {
    const long failed = syscall(SYS_clock_gettime, clock, at);
    const char* ppm = getenv("RAW_CLOCK_PPM");
    if (failed != 0 || clock != CLOCK_MONOTONIC_RAW || ppm == NULL) return (int)failed;
    const long long second = 1000000000;
    const long long ns = at->tv_sec * second + at->tv_nsec;
    const long long fast = ns + (long long)((__int128)ns * atoll(ppm) / 1000000);
    at->tv_sec = fast / second;
    at->tv_nsec = fast % second;
    return 0;
}
