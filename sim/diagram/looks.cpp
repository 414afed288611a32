#include "sim/diagram/looks.hpp"

namespace bullring::sim::diagram {

namespace {

constexpr auto strong = Weight::strong;
constexpr auto thin = Weight::thin;
constexpr auto background = Weight::background;

// Bully's and Ring's own messages never meet in one picture and share colours.
constexpr std::array<LookOf, looks> table{{
    {"election", "ELECTION", "ELECTION", "is anybody of higher rank there?", strong, "#8250df",
     "#b98eff", ""},
    {"ok", "OK", "OK", "I am: wait for me", strong, "#0969da", "#58a6ff", ""},
    {"decline", "DECLINE", "DECLINE", "I am not in your way", strong, "#57606a", "#9ba5b0", ""},
    {"leader", "LEADER", "LEADER", "there is a leader already", strong, "#0f766e", "#2dd4bf", ""},
    {"token", "TOKEN", "TOKEN", "election token: who is on the ring?", strong, "#8250df", "#b98eff",
     ""},
    {"tack", "", "TACK", "I have the token", thin, "#6e7781", "#8b949e", "2 3"},
    {"coordinator", "COORDINATOR", "COORDINATOR", "I stand: promise me your vote for an epoch",
     strong, "#bc4c00", "#f0883e", ""},
    {"ctoken", "CTOKEN", "CTOKEN", "coordinator token: collects the promises", strong, "#bc4c00",
     "#f0883e", ""},
    {"grant", "GRANT", "GRANT", "promised: nobody else until it ends", strong, "#1a7f37", "#3fb950",
     ""},
    {"announce", "I lead", "COORDINATOR (renewal)", "“I lead”: extend your promise", strong,
     "#9a6700", "#e3b341", ""},
    {"announce-grant", "", "GRANT (of a renewal)", "extended", thin, "#1a7f37", "#3fb950", ""},
    {"textbook", "COORDINATOR", "COORDINATOR", "I am the leader now", strong, "#bc4c00", "#f0883e",
     ""},
    {"nack", "NACK", "NACK", "refused, and why", strong, "#cf222e", "#ff7b72", "5 3"},
    {"resign", "RESIGN", "RESIGN", "I give up: my promises are free", strong, "#bf3989", "#f778ba",
     ""},
    {"refused", "REFUSED", "REFUSED", "we don't belong together", strong, "#cf222e", "#ff7b72",
     "5 3"},
    {"fin", "FIN", "FIN", "the kernel closes a dead process's connections", strong, "#cf222e",
     "#ff7b72", "2 3"},
    {"reset", "RST", "RST", "a connection breaks", strong, "#cf222e", "#ff7b72", "1 4"},
    {"other", "", "other", "a message of another kind", thin, "#6e7781", "#8b949e", ""},
    {"renewal", "", "renewals", "what keeps a leader in office", background, "#8c959f", "#6e7681",
     ""},
    {"renewal-grant", "", "renewals", "what keeps a leader in office", background, "#8c959f",
     "#6e7681", ""},
    {"handshake", "", "HELLO, HELLO_ACK", "a connection begins", background, "#8c959f", "#6e7681",
     "4 3"},
    {"hb", "", "HB", "heartbeats", background, "#afb8c1", "#484f58", ""},
}};

}  // namespace

const LookOf& look_of(Look look) { return table[static_cast<std::size_t>(look)]; }

}  // namespace bullring::sim::diagram
