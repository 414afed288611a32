// Tells which messages of a trace were which: delivered, lost or on their way, and what an election
// is made of as opposed to what never stops.

// By the name of its rule in draw.css: the label of an arrow, its name and meaning in the legend,
// and its weight. "strong" is what an election is made of, "thin" goes with it, "background" never
// stops. One kind of message may mean several things.
export const looks = {
  election: ["ELECTION", "ELECTION", "is anybody of higher rank there?", "strong"],
  ok: ["OK", "OK", "I am: wait for me", "strong"],
  decline: ["DECLINE", "DECLINE", "I am not in your way", "strong"],
  leader: ["LEADER", "LEADER", "there is a leader already", "strong"],
  token: ["TOKEN", "TOKEN", "election token: who is on the ring?", "strong"],
  tack: ["", "TACK", "I have the token", "thin"],
  coordinator:
    ["COORDINATOR", "COORDINATOR", "I stand: promise me your vote for an epoch", "strong"],
  ctoken: ["CTOKEN", "CTOKEN", "coordinator token: collects the promises", "strong"],
  grant: ["GRANT", "GRANT", "promised: nobody else until it ends", "strong"],
  announce: ["I lead", "COORDINATOR (renewal)", "“I lead”: extend your promise", "strong"],
  extended: ["", "GRANT (of a renewal)", "extended", "thin"],
  textbook: ["COORDINATOR", "COORDINATOR", "I am the leader now", "strong"],
  nack: ["NACK", "NACK", "refused, and why", "strong"],
  resign: ["RESIGN", "RESIGN", "I give up: my promises are free", "strong"],
  refused: ["REFUSED", "REFUSED", "we don't belong together", "strong"],
  fin: ["FIN", "FIN", "the kernel closes a dead process's connections", "strong"],
  reset: ["RST", "RST", "a connection breaks", "strong"],
  other: ["", "other", "a message of another kind", "thin"],
  renewal: ["", "renewals", "what keeps a leader in office", "background"],
  handshake: ["", "HELLO, HELLO_ACK", "a connection begins", "background"],
  hb: ["", "HB", "heartbeats", "background"],
};
export const isBackground = (arrow) => looks[arrow.look][3] === "background";

const lookOfKind = {
  ELECTION: "election", OK: "ok", DECLINE: "decline", LEADER: "leader", TOKEN: "token",
  RESIGN: "resign", REFUSED: "refused", HELLO: "handshake", HELLO_ACK: "handshake", HB: "hb",
};

export class ArrowMaker {
  constructor(model) {
    Object.assign(this, { model, asked: new Map(), announced: new Set(), renewalHops: new Set() });
  }

  make() {
    for (const record of this.model.trace.records) {
      if (record.what === "send") this.onSending(record);
      if (record.what === "recv") this.onReceipt(record);
    }
    for (const death of this.model.deaths) this.addEnds(death);
    this.model.arrows.sort((a, b) => a.sent - b.sent);
  }

  add(arrow) {
    if (arrow.from && arrow.to) this.model.arrows.push(arrow);
  }

  onSending(sending) {
    const look = sending.look = this.lookOf(sending);
    if (sending.replaced) return;
    const receipt = sending.partner;
    const common = { from: sending.lane, sent: sending.t, look, sending, receipt };
    if (receipt)
      return this.add({ ...common, to: receipt.lane, received: receipt.t, fate: "delivered" });
    // The answer to what no line of its receiver tells may be there all the same.
    if (sending.kind === "COORDINATOR")
      this.asked.set([sending.peer, sending.node, sending.epoch].join(), look);
    // A node with a later line in the trace would have recorded this receipt as well.
    const to = this.model.laneOf(sending.peer, sending.t);
    const known = to?.traced && (to.last > sending.t || this.model.absence(to, sending.t));
    this.add({ ...common, to, received: sending.t, fate: known ? "lost" : "open" });
  }

  onReceipt(receipt) {
    receipt.look = receipt.partner?.look ?? this.lookOf(receipt);
    if (receipt.kind === "COORDINATOR")
      this.asked.set([receipt.node, receipt.peer, receipt.epoch].join(), receipt.look);
    if (receipt.partner) return;
    this.add({ from: this.model.laneOf(receipt.peer, receipt.t), to: receipt.lane, sent: receipt.t,
               received: receipt.t, fate: "unsent", look: receipt.look, sending: null, receipt });
  }

  // Also of a receipt whose sending is unknown; then as if its receiver had sent it.
  lookOf(record) {
    const { kind, node, peer, epoch, fields } = record;
    const hop = [fields.owner, fields.round, fields.step].join();
    // What was asked last: a voter that is silent after its restart refuses each renewal, too.
    const [voter, holder] = record.what === "send" ? [node, peer] : [peer, node];
    const asked = this.asked.get([voter, holder, epoch].join());
    switch (kind) {
      case "COORDINATOR": case "CTOKEN": return this.lookOfRequest(record, hop);
      case "NACK": return asked === "renewal" ? "renewal" : "nack";
      case "GRANT":
        return asked === "renewal" ? "renewal" : asked === "announce" ? "extended" : "grant";
      case "TACK": return this.renewalHops.has(hop) ? "renewal" : "tack";
      default: return lookOfKind[kind] ?? "other";
    }
  }

  lookOfRequest({ kind, node, peer, epoch, fields }, hop) {
    const isToken = kind === "CTOKEN";
    if (!fields.renew) return isToken ? "ctoken" : "coordinator";
    // The first renewal announces the leader to its receiver; later ones only go on.
    const key = [node, peer, epoch].join();
    const first = !this.announced.has(key);
    this.announced.add(key);
    if (this.model.trace.quorum === "none") return "textbook";
    if (first) return isToken ? "ctoken" : "announce";
    if (isToken) this.renewalHops.add(hop);
    return "renewal";
  }

  // The others say when they have read the end of a dead process's connections.
  addEnds({ lane, at, silent }) {
    if (silent) return;
    const nextLife = lane.absences.find((absence) => absence.from === at)?.to ?? this.model.end;
    const told = new Set([lane]);
    for (const record of this.model.events) {
      if (record.kind !== "peer_down" || record.peer !== lane.node || told.has(record.lane))
        continue;
      if (record.t < at || record.t > nextLife || !["eof", "reset"].includes(record.word)) continue;
      told.add(record.lane);
      this.add({ from: lane, to: record.lane, sent: at, received: record.t, fate: "delivered",
                 look: record.word === "eof" ? "fin" : "reset", sending: null, receipt: null });
    }
  }
}
