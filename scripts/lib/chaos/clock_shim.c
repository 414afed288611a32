/* Preloaded into a node and all that it starts. Owns: two clocks that run at rates which a script
   changes while the process runs, a date that it moves, disk errors that it asks for, and the count of errors that the
   kernel returned. What it obeys stands in a page that the script maps, too (shim.py has the same
   layout), named by CHAOS_PAGE; without one nothing is changed.

   It changes CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW, by which leases are judged, and timers on the
   former. CLOCK_MONOTONIC stays: nothing of a lease is judged by it, and the C library waits on it
   by system calls of its own, which are not seen here. Nor are those of bullring-keeper. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct segment { /* from true_ns on the clock runs faster by ppm millionths */
    volatile int64_t true_ns, shown_ns, ppm;
};

struct page {
    struct segment clocks[2][2]; /* BOOTTIME, RAW: the older and the newer one, in any order */
    volatile int64_t disk_error; /* what writing to disk returns; 0: what it does */
    volatile int64_t readings, disk_errors, full, no_descriptor;
    volatile int64_t date_ahead_s; /* what certificates are judged by */
};

static const int64_t second = 1000000000, million = 1000000;
static struct page* page;
static int (*true_clock)(clockid_t, struct timespec*);

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    if (true_clock == NULL) true_clock = NEXT(clock_gettime);
    const char* path = getenv("CHAOS_PAGE");
    const int file = path == NULL ? -1 : NEXT(open)(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) page = mapped;
}

static void count(volatile int64_t* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

static int index_of(clockid_t clock) {
    return clock == CLOCK_BOOTTIME ? 0 : clock == CLOCK_MONOTONIC_RAW ? 1 : -1;
}

static int64_t whole(const struct timespec* at) { return at->tv_sec * second + at->tv_nsec; }

static void split(int64_t ns, struct timespec* at) {
    at->tv_sec = ns / second;
    at->tv_nsec = ns % second;
}

/* The segment in which that true instant lies; it may be changed meanwhile. */
static struct segment segment_at(int clock, int64_t true_ns) {
    const struct segment* pair = page->clocks[clock];
    for (;;) {
        const int64_t begins[2] = {pair[0].true_ns, pair[1].true_ns};
        const int newer = begins[1] > begins[0];
        const int at = begins[newer] <= true_ns ? newer : !newer;
        const struct segment found = {begins[at], pair[at].shown_ns, pair[at].ppm};
        if (begins[0] == pair[0].true_ns && begins[1] == pair[1].true_ns) return found;
    }
}

static int64_t shown(int clock, int64_t true_ns) {
    const struct segment in = segment_at(clock, true_ns);
    const int64_t since = true_ns - in.true_ns;
    return in.shown_ns + since + (int64_t)((__int128)since * in.ppm / million);
}

int clock_gettime(clockid_t clock, struct timespec* at) {
    if (true_clock == NULL) true_clock = NEXT(clock_gettime);
    const int failed = true_clock(clock, at);
    const int which = index_of(clock);
    if (failed != 0 || which < 0 || page == NULL) return failed;
    count(&page->readings);
    split(shown(which, whole(at)), at);
    return 0;
}

time_t time(time_t* at) {
    struct timespec now;
    if (true_clock == NULL) true_clock = NEXT(clock_gettime);
    true_clock(CLOCK_REALTIME, &now);
    if (page != NULL) now.tv_sec += page->date_ahead_s;
    if (at != NULL) *at = now.tv_sec;
    return now.tv_sec;
}

/* A timer's clock is not to be had from its descriptor. */
static unsigned char on_boottime[65536];

int timerfd_create(int clock, int flags) {
    const int timer = NEXT(timerfd_create)(clock, flags);
    if (timer >= 0 && timer < (int)sizeof on_boottime) on_boottime[timer] = clock == CLOCK_BOOTTIME;
    if (timer < 0 && errno == EMFILE && page != NULL) count(&page->no_descriptor);
    return timer;
}

int timerfd_settime(int timer, int flags, const struct itimerspec* wanted, struct itimerspec* old) {
    static int (*next)(int, int, const struct itimerspec*, struct itimerspec*);
    if (next == NULL) next = NEXT(timerfd_settime);
    const int64_t wanted_ns = whole(&wanted->it_value);
    if (page == NULL || wanted_ns == 0 || timer < 0 || timer >= (int)sizeof on_boottime ||
        !on_boottime[timer])
        return next(timer, flags, wanted, old);
    struct timespec now;
    true_clock(CLOCK_BOOTTIME, &now);
    const struct segment in = segment_at(0, whole(&now));
    int64_t ns = (flags & TFD_TIMER_ABSTIME) != 0 ? wanted_ns - in.shown_ns : wanted_ns;
    ns = (int64_t)((__int128)ns * million / (million + in.ppm)) + 1;
    if ((flags & TFD_TIMER_ABSTIME) != 0) ns += in.true_ns;
    struct itimerspec at = *wanted;
    split(ns < 1 ? 1 : ns, &at.it_value);
    return next(timer, flags, &at, old);
}

/* Disks. */

static int disk_fails(void) {
    if (page == NULL || page->disk_error == 0) return 0;
    count(&page->disk_errors);
    errno = (int)page->disk_error;
    return 1;
}

int fsync(int file) { return disk_fails() ? -1 : NEXT(fsync)(file); }
int fdatasync(int file) { return disk_fails() ? -1 : NEXT(fdatasync)(file); }

ssize_t write(int file, const void* bytes, size_t size) {
    static ssize_t (*next)(int, const void*, size_t);
    if (next == NULL) next = NEXT(write);
    const ssize_t written = next(file, bytes, size);
    if (written < 0 && errno == ENOSPC && page != NULL) count(&page->full);
    return written;
}

/* Descriptors. */

static int counted(int file) {
    if (file < 0 && page != NULL && (errno == EMFILE || errno == ENOSPC))
        count(errno == EMFILE ? &page->no_descriptor : &page->full);
    return file;
}

#define OPENS(name)                                            \
    int name(const char* path, int flags, ...) {               \
        va_list more;                                          \
        va_start(more, flags);                                 \
        const mode_t mode = va_arg(more, mode_t);              \
        va_end(more);                                          \
        return counted(NEXT(name)(path, flags, mode));         \
    }
OPENS(open)
OPENS(open64)

int socket(int domain, int type, int protocol) {
    return counted(NEXT(socket)(domain, type, protocol));
}
int accept(int from, struct sockaddr* who, socklen_t* size) {
    return counted(NEXT(accept)(from, who, size));
}
int accept4(int from, struct sockaddr* who, socklen_t* size, int flags) {
    return counted(NEXT(accept4)(from, who, size, flags));
}
int fcntl(int file, int command, ...) {
    va_list more;
    va_start(more, command);
    void* argument = va_arg(more, void*);
    va_end(more);
    return counted(NEXT(fcntl)(file, command, argument));
}
