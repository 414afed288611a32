#include "protocol/diagram/looks.hpp"

#include <array>

#include "protocol/diagram/formatted.hpp"
#include "protocol/values/names.hpp"

namespace bullring::protocol::diagram {

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

struct Colours {
    const char* paper;
    const char* ink;
    const char* pale;  // secondary text
    const char* grid;
    const char* lane;
    const char* election;  // behind an election
    const char* nobody;    // behind a time without a leader
    const char* lease;
    const char* lease_edge;
    const char* stands;
    const char* ends;
    const char* bad;
    const char* doubt;
    const char* good;
    const char* start;
    const char* hatch;
};

constexpr Colours light{"#ffffff", "#1f2328", "#656d76", "#d8dee4", "#6e7781", "#fff3c4",
                        "#f3f4f6", "#f9d976", "#bf8700", "#bc4c00", "#bf3989", "#cf222e",
                        "#bc4c00", "#1a7f37", "#8250df", "#8c959f"};
constexpr Colours dark{"#0d1117", "#e6edf3", "#9198a1", "#262c36", "#7d8590", "#332b12",
                       "#171c24", "#6b560f", "#e3b341", "#f0883e", "#f778ba", "#ff7b72",
                       "#f0883e", "#3fb950", "#b98eff", "#6e7681"};

std::string colour_rules(const Colours& c, bool on_dark, const std::set<Look>& used) {
    std::string css;
    const auto rule = [&](const char* selector, const std::string& body) {
        css += formatted("{}{{{}}}\n", selector, body);
    };
    const auto fill = [&](const char* selector, const char* colour) {
        rule(selector, formatted("fill:{}", colour));
    };
    const auto stroke = [&](const char* selector, const char* colour) {
        rule(selector, formatted("stroke:{}", colour));
    };
    const auto both = [&](const char* selector, const char* inside, const char* edge) {
        rule(selector, formatted("fill:{};stroke:{}", inside, edge));
    };
    fill(".paper,.fold", c.paper);
    fill("text", c.ink);
    fill("text.pale", c.pale);
    stroke(".halo", c.paper);
    stroke(".grid", c.grid);
    stroke(".axis,.lane,.gone", c.lane);
    stroke(".zigzag", c.hatch);
    fill(".election", c.election);
    fill(".nobody", c.nobody);
    both(".lease", c.lease, c.lease_edge);
    stroke(".ghost", c.lease_edge);
    both(".stands", c.paper, c.stands);
    both(".ends", c.paper, c.ends);
    both(".absent", c.paper, c.hatch);
    stroke(".hatch", c.hatch);
    stroke(".death,.cut", c.bad);
    fill("text.bad", c.bad);
    stroke(".heal", c.good);
    fill("text.good", c.good);
    both(".doubt", c.paper, c.doubt);
    both(".trust", c.paper, c.good);
    both(".start", c.good, c.good);
    both(".begins", c.start, c.paper);
    both(".star", c.lease_edge, c.paper);
    both(".deposed", c.ends, c.paper);
    both(".dot", c.ink, c.paper);
    both(".other", c.paper, c.ink);
    for (const Look look : used) {
        const LookOf& is = look_of(look);
        const char* colour = on_dark ? is.dark : is.light;
        css += formatted(".l-{0} .s{{stroke:{1}}}\n.l-{0} .h,text.l-{0}{{fill:{1}}}\n", is.css,
                         colour);
    }
    return css;
}

std::string shape_rules(const std::set<Look>& used) {
    std::string css =
        "text{font-family:sans-serif;font-size:11px}\n"
        ".title{font-size:16px;font-weight:bold}\n"
        ".name{font-size:13px;font-weight:bold}\n"
        ".strong{font-weight:bold}\n"
        ".small{font-size:10px}\n"
        ".halo{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}\n"
        ".grid,.axis{stroke-width:1}\n"
        ".lane{stroke-width:1.6}\n"
        ".gone{stroke-width:1.4;stroke-dasharray:1 5}\n"
        ".zigzag{fill:none;stroke-width:1}\n"
        ".lease{stroke-width:1}\n"
        ".ghost{fill:none;stroke-width:1;stroke-dasharray:4 3}\n"
        ".stands,.ends{stroke-width:1.5}\n"
        ".absent{stroke-width:1}\n"
        ".hatch{stroke-width:1.6}\n"
        ".death{fill:none;stroke-width:3;stroke-linecap:round}\n"
        ".cut,.heal{stroke-width:1.5;stroke-dasharray:6 4}\n"
        ".doubt,.trust,.other{stroke-width:1.6}\n"
        ".s{fill:none;stroke-width:1.6}\n"
        ".thin .s{stroke-width:0.9}\n"
        ".back .s{stroke-width:0.6;opacity:0.7}\n"
        ".open .s,.open .h{opacity:0.55}\n"
        ".m:hover .s{stroke-width:3}\n";
    for (const Look look : used) {
        const LookOf& is = look_of(look);
        if (is.dashes[0] != '\0') {
            css += formatted(".l-{} .s{{stroke-dasharray:{}}}\n", is.css, is.dashes);
        }
    }
    return css;
}

}  // namespace

const LookOf& look_of(Look look) { return table[static_cast<std::size_t>(look)]; }

const char* name(Theme theme) {
    switch (theme) {
        case Theme::automatic: return "auto";
        case Theme::light: return "light";
        case Theme::dark: return "dark";
    }
    return protocol::no_name;
}

std::string style_sheet(Theme theme, const std::set<Look>& used) {
    std::string css = shape_rules(used);
    css += colour_rules(theme == Theme::dark ? dark : light, theme == Theme::dark, used);
    if (theme == Theme::automatic) {
        css += "@media (prefers-color-scheme:dark){\n" + colour_rules(dark, true, used) + "}\n";
    }
    return css;
}

}  // namespace bullring::protocol::diagram
