/* The same in C. Usage: consumer_c PORT DATA-DIR */
#include <bullring/bullring.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

/* A node that is NULL is refused, or leads nothing, by every function. */
static int null_is_taken(void) {
    char text[64] = "before";
    uint64_t epoch = 7;
    bullring_change change;
    int code = 0;
    const char *none[] = {NULL};
    const char *half[] = {"id", NULL};
    bullring_close(NULL);
    bullring_progress(NULL);
    return bullring_open(NULL, NULL, NULL, 0) == NULL &&
           bullring_open(none, &code, text, sizeof text) == NULL && code == BULLRING_INVALID &&
           bullring_open(half, &code, NULL, 7) == NULL && code == BULLRING_INVALID &&
           bullring_wait(NULL, 0, &change) == BULLRING_INVALID && bullring_epoch(NULL) == 0 &&
           bullring_valid(NULL, 1) == 0 && bullring_time_left_ns(NULL) == 0 &&
           bullring_done(NULL, 1, 0) == BULLRING_INVALID &&
           bullring_leader(NULL, &epoch, text, sizeof text) == 0 && epoch == 0 && text[0] == 0 &&
           bullring_leader(NULL, NULL, NULL, 0) == 0 &&
           bullring_members(NULL, NULL, 0, NULL, 0) == 0 &&
           bullring_change_member(NULL, "add", 2, "h:1", 0, NULL, 0) == BULLRING_INVALID &&
           bullring_resign(NULL, 0, 0, NULL, 0) == BULLRING_INVALID &&
           bullring_resign(NULL, 0, 0, text, sizeof text) == BULLRING_INVALID && text[0] != 0;
}

int main(int argc, char **argv) {
    char peers[64], error[512] = "", advertised[16];
    int code = 0, waited;
    bullring_change change;
    uint64_t epoch = 0, leader;
    const char *wrong[] = {"id", "1", "leese", "5s", NULL};
    const char *hooks[] = {"on-elected", "true", NULL};
    const char *settings[] = {"id",      "1",    "peers",     peers,     "data-dir", argv[argc - 1],
                              "profile", "fast", "advertise", "here:80", NULL};
    bullring_node *node;
    if (argc != 3) return 2;
    if (bullring_open(wrong, &code, error, sizeof error) != NULL || code != BULLRING_INVALID ||
        strstr(error, "did you mean lease?") == NULL || strstr(error, "peers") == NULL)
        return fail("wrong settings", error);
    if (bullring_open(hooks, &code, error, sizeof error) != NULL || code != BULLRING_INVALID ||
        strstr(error, "is not a setting of the library") == NULL || strstr(error, "did you mean"))
        return fail("a hook", error);
    if (!null_is_taken()) return fail("NULL", "is not taken");
    snprintf(peers, sizeof peers, "1=127.0.0.1:%s", argv[1]);
    node = bullring_open(settings, &code, error, sizeof error);
    if (node == NULL) return fail(bullring_error(code), error);
    while ((waited = bullring_wait(node, 30000, &change)) == BULLRING_OK)
        if (change.kind == BULLRING_ELECTED) break;
    if (waited != BULLRING_OK) return fail("wait", bullring_error(waited));
    epoch = change.epoch;
    if (bullring_epoch(node) != epoch || !bullring_valid(node, epoch) ||
        bullring_valid(node, epoch + 1) || bullring_time_left_ns(node) <= 0)
        return fail("elected", "but not valid");
    leader = bullring_leader(node, NULL, advertised, sizeof advertised);
    if (leader != 1 || strcmp(advertised, "here:80") != 0) return fail("leader", advertised);
    bullring_progress(node);
    if (bullring_resign(node, 0, 1000, error, sizeof error) != BULLRING_REFUSED)
        return fail("resign", "there is no successor");
    if (bullring_resign(node, 0, 0, error, sizeof error) != BULLRING_REFUSED ||
        bullring_resign(node, 0, -5, NULL, 0) != BULLRING_REFUSED)
        return fail("resign at once", "there is no successor");
    if (bullring_wait(node, 0, NULL) != BULLRING_INVALID) return fail("wait", "without a place");
    if (bullring_done(node, 0, 0) != BULLRING_INVALID) return fail("done", "no epoch");
    if (bullring_done(node, epoch + 1, 0) != BULLRING_INVALID) return fail("done", "wrong epoch");
    if (bullring_done(node, epoch, 0) != BULLRING_OK) return fail("done", "refused");
    if (bullring_valid(node, epoch) || bullring_epoch(node) == epoch)
        return fail("done", "but still valid");
    bullring_close(node);
    printf("led in epoch %" PRIu64 ", version %s\n", epoch, bullring_version());
    return 0;
}
