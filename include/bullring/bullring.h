/* Owns: the library's interface for C, and for what can call C. It has the same rules as the C++ one
 * (libbullring(3)), with one difference: there is no task to call, so whoever works while it leads
 * says so itself. After bullring_wait() has given BULLRING_ELECTED the work may begin; after
 * BULLRING_STOP it must end, and then bullring_done() lets the leadership go. Until that call nobody
 * else is let in before the lease ends by itself.
 *
 * All functions may be called from any thread, but bullring_wait() from one at a time, and nothing
 * after bullring_close(). None of them calls back. A node that is NULL is no error of the caller's:
 * it leads nothing, knows of no leader, and what gives a code gives BULLRING_INVALID. */
#ifndef BULLRING_BULLRING_H
#define BULLRING_BULLRING_H

#include <stddef.h>
#include <stdint.h>

#define BULLRING_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bullring_node bullring_node;

enum {
    BULLRING_OK = 0,
    BULLRING_INVALID = -1, /* the settings, or an argument */
    BULLRING_FAILED = -2,  /* the system: a port in use, a directory that can't be written … */
    BULLRING_TIMEOUT = -3,
    BULLRING_REFUSED = -4, /* a resign: no successor, not the leader …; a change of the members */
    BULLRING_CLOSED = -5   /* the node has ended */
};

/* "invalid settings" and so on. Never NULL. */
BULLRING_C_API const char *bullring_error(int code);
/* "0.1.0". */
BULLRING_C_API const char *bullring_version(void);

/* Starts a node. `settings` are names and values in turn, up to a NULL: the flags of `bullring node`
 * without their dashes ("id", "1", "peers", "1=…,2=…"), but not its hooks, "health-…", "log-…" and
 * "config"; and "stall-after", "stop-margin", "step-down-timeout", "restart-delay". "hang-after" is off
 * if it is not given: it kills the whole process. NULL on failure
 * (as when `settings` is NULL: "id" and "peers" are missing): then `error`, if it is not NULL, has
 * the reasons, a line each, cut off after error_bytes − 1 bytes, and *code, if it is not NULL, says
 * which kind. */
BULLRING_C_API bullring_node *bullring_open(const char *const *settings, int *code, char *error,
                                            size_t error_bytes);

/* Hands over if it leads, and frees the node. It does not wait for bullring_done(): the leadership is
 * let go at once, so the work must have ended. Does nothing with NULL, as free() does. */
BULLRING_C_API void bullring_close(bullring_node *node);

enum {
    BULLRING_LEADER = 1,  /* another leader is followed, or none */
    BULLRING_ELECTED = 2, /* this node leads: the work may begin */
    BULLRING_STOP = 3,    /* the leadership ends, or is about to: the work must end */
    BULLRING_MEMBERS = 4  /* the list of members has changed: bullring_members() has it */
};

typedef struct bullring_change {
    int kind;       /* one of the four above */
    uint64_t epoch; /* of the leadership that has begun or ends; of the leader */
    uint64_t leader; /* whom this node follows; 0: nobody */
} bullring_change;

/* The next change, in order. BULLRING_OK, BULLRING_TIMEOUT after timeout_ms (< 0: never),
 * BULLRING_CLOSED, or BULLRING_INVALID when `node` or `change` is NULL. */
BULLRING_C_API int bullring_wait(bullring_node *node, int timeout_ms, bullring_change *change);

/* The epoch under which this node leads and its work may go on; 0 if it does not. It is the fencing
 * token. */
BULLRING_C_API uint64_t bullring_epoch(const bullring_node *node);
/* 1 while this node leads under that epoch, judged against the clocks at every call; else 0. */
BULLRING_C_API int bullring_valid(const bullring_node *node, uint64_t epoch);
/* Until the lease ends if it is not renewed; 0 when this node does not lead. */
BULLRING_C_API int64_t bullring_time_left_ns(const bullring_node *node);
/* The work gets on: see "stall-after". */
BULLRING_C_API void bullring_progress(bullring_node *node);
/* The work under `epoch` has ended: after BULLRING_STOP, or by itself, which hands over; failed ≠ 0
 * says that it went wrong. BULLRING_INVALID when no such leadership is under way: epoch 0 is none. */
BULLRING_C_API int bullring_done(bullring_node *node, uint64_t epoch, int failed);

/* Whom this node follows, itself included: 0 when there is nobody. `epoch` and `advertised` may be
 * NULL; `advertised` is cut off after advertised_bytes − 1 bytes. */
BULLRING_C_API uint64_t bullring_leader(const bullring_node *node, uint64_t *epoch,
                                        char *advertised, size_t advertised_bytes);

/* If this node leads: hands over to `to`, or to the best one (0). BULLRING_OK when that leads,
 * BULLRING_REFUSED when it is not even tried, with the reason in `error`. The handover waits for
 * bullring_done(), which another thread has to call. With timeout_ms ≤ 0 it is only asked for: then
 * BULLRING_TIMEOUT says that it has not been refused. */
BULLRING_C_API int bullring_resign(bullring_node *node, uint64_t to, int timeout_ms, char *error,
                                   size_t error_bytes);

typedef struct bullring_member {
    uint64_t id;
    int votes;         /* 1, or 0: a member without a vote */
    char address[260]; /* "HOST:PORT"; empty: the list does not say */
} bullring_member;

/* The list of members as this node has it, in ascending order of ids. The number of all of them, at
 * most 64, of which the first `max` are written to `members`; 0 when the node has no list yet, or has
 * ended. `tag`, if it is not NULL, has the list's "EPOCH.VERSION", which rises with each change, cut
 * off after tag_bytes − 1 bytes. */
BULLRING_C_API size_t bullring_members(const bullring_node *node, bullring_member *members, size_t max,
                                       char *tag, size_t tag_bytes);

/* Has the leader change the list, as `bullring member` does, for at most timeout_ms (< 0: without an
 * end). `what` is "add" (without a vote), "remove", "promote", "demote" or "address"; `address` is
 * "HOST:PORT" for "add" and "address", and NULL else. BULLRING_OK when it is so, BULLRING_REFUSED
 * when it is not, with the reason and what would help in `error`. With security "tls" only while this
 * node leads. A node that is to be removed and leads hands over first, for which another thread has
 * to call bullring_done(). */
BULLRING_C_API int bullring_change_member(bullring_node *node, const char *what, uint64_t id,
                                          const char *address, int timeout_ms, char *error,
                                          size_t error_bytes);

#ifdef __cplusplus
}
#endif

#endif
