/* The same in C. Usage: consumer_c PORT DATA-DIR */
#include <bullring/bullring.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

int main(int argc, char **argv) {
    char peers[64], error[512] = "", advertised[16];
    int code = 0, waited;
    bullring_change change;
    uint64_t epoch = 0, leader;
    const char *wrong[] = {"id", "1", "leese", "5s", NULL};
    const char *settings[] = {"id",      "1",    "peers",     peers,     "data-dir", argv[argc - 1],
                              "profile", "fast", "advertise", "here:80", NULL};
    bullring_node *node;
    if (argc != 3) return 2;
    if (bullring_open(wrong, &code, error, sizeof error) != NULL || code != BULLRING_INVALID ||
        strstr(error, "did you mean lease?") == NULL || strstr(error, "peers") == NULL)
        return fail("wrong settings", error);
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
    if (bullring_done(node, epoch + 1, 0) != BULLRING_INVALID) return fail("done", "wrong epoch");
    if (bullring_done(node, epoch, 0) != BULLRING_OK) return fail("done", "refused");
    if (bullring_valid(node, epoch) || bullring_epoch(node) == epoch)
        return fail("done", "but still valid");
    bullring_close(node);
    printf("led in epoch %" PRIu64 ", version %s\n", epoch, bullring_version());
    return 0;
}
