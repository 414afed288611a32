// The simulated cluster: real nodes of protocol/ on simulated machines, joined by simulated TCP.
// One seed, one history. It runs the cluster and reports to observers; they judge whether it
// behaves (sim/check), and faults are injected from outside (sim/scenario, sim/swarm).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "protocol/values/rng.hpp"
#include "sim/world/event_queue.hpp"
#include "sim/world/host.hpp"
#include "sim/world/lie.hpp"
#include "sim/world/network.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/settings.hpp"

namespace bullring::sim {

/// How the sockets of a process that dies end.
enum class Death : std::uint8_t {
    killed,     // FIN, or RST where bytes were unread, as a kernel does it
    reset,      // RST on all
    power_off,  // silence: the machine is gone
};

class World {
public:
    /// Nothing runs yet. The settings must be sound (`problems`).
    explicit World(const Settings& settings);

    /// The observer must outlive the world. Copies of it are watched by their own.
    void watch(Observer& observer) { observers_.all.push_back(&observer); }

    // ---- Facts.
    const Settings& settings() const { return settings_; }
    bool by_hand() const { return settings_.by_hand.has_value(); }
    Time now() const { return now_; }
    std::size_t members() const { return settings_.ids.size(); }
    /// And the nodes of the second cluster.
    std::size_t homes() const { return members() + settings_.neighbours.size(); }
    std::size_t hosts() const { return hosts_.size(); }
    std::size_t hosts_max() const { return links_.hosts(); }
    const Host& host(HostIndex h) const { return hosts_[h]; }
    std::optional<HostIndex> host_of(NodeId id, Site site = Site::own) const;
    /// The process that this run of it is, or was the last.
    std::optional<HostIndex> host_of(Incarnation run) const;
    /// The cluster that its state is of; without any the one that it is there for.
    Site cluster_of(HostIndex h) const {
        return hosts_[h].disk.file ? hosts_[h].disk.written_at : hosts_[h].site;
    }
    const protocol::Config& config(HostIndex h) const { return configs_[h]; }
    Instant clock(HostIndex h) const { return hosts_[h].clock.read(now_); }
    const std::vector<Client>& clients() const { return clients_; }
    /// The one on this machine that leads, or else the newest that lives.
    std::optional<std::size_t> client_of(HostIndex h) const;
    /// To a process that reads it now, and the clock after that.
    bool page_is_valid(const Client& client) const;
    /// Or it has not said that its work is over, and its page said so until now.
    bool may_work(const Client& client) const;
    const Links& links() const { return links_; }
    const std::vector<Connection>& connections() const { return connections_; }
    const Connection& connection_of(SessionId session) const {
        return connections_[session.value / 2 - 1];
    }
    static Side side_of(SessionId session) { return static_cast<Side>(session.value % 2); }
    static SessionId dialler_end(std::size_t connection) { return {(connection + 1) * 2}; }
    static SessionId other_end(SessionId session) { return {session.value ^ 1U}; }
    /// Whose published lease is valid now by its own clocks.
    std::optional<HostIndex> leader(Site site = Site::own) const;
    bool leads(HostIndex h) const;
    std::uint64_t steps() const { return steps_; }
    std::uint64_t delivered() const { return delivered_; }

    // ---- Time.
    /// One thing that happens not after `limit`; false when there is none, and now() is `limit`.
    bool advance(Time limit);
    void run_until(Time limit) {
        while (advance(limit)) {
        }
    }

    /// Something happens because somebody says so who moves it by hand; not before now().
    void happen(Time at, Happening what, std::uint64_t a, std::uint32_t b = 0, std::uint64_t c = 0);

    // ---- Processes and machines.
    void start(HostIndex h);
    void die(HostIndex h, Death death);
    /// SIGTERM.
    void stop(HostIndex h);
    void pause(HostIndex h);
    void resume(HostIndex h);
    /// The whole machine: its raw clock stands still, its kernel answers nobody.
    void suspend(HostIndex h);
    /// Ends what the process was about to do after `after_actions` of its next step.
    void interrupt(HostIndex h, Interruption interruption);
    void set_slow(HostIndex h, Time each_step) { hosts_[h].slow = each_step; }
    void set_rates(HostIndex h, Rates rates);
    /// From now on nothing has to be sent again, and nothing is damaged.
    void end_loss() {
        settings_.loss_ppm = 0;
        flip_next_.clear();
    }
    /// A second process with this member's id, on another machine with a disk of its own.
    HostIndex add_impostor(NodeId id);
    /// From its next attempt on `h` dials `member` where `target` is: it has been given another
    /// address.
    void readdress(HostIndex h, HostIndex member, HostIndex target);
    void restore_addresses();
    /// From its next attempt on everybody of that cluster dials the member where `target` is. Not
    /// between clusters that nothing can tell apart yet (A9).
    void mistake(Site site, HostIndex member, HostIndex target);
    /// The machine gets a copy of another one's disk, and its own one again. Its process is down.
    void copy_disk(HostIndex h, HostIndex from);
    /// Or a disk of the cluster's predecessor, with a list that is newer than all of today's, and
    /// without an id. It is this machine's own once it has been told today's list (A9).
    void find_old_disk(HostIndex h);
    void return_disk(HostIndex h);
    /// The member whose id this process has.
    HostIndex member_of(HostIndex h) const { return *host_of(hosts_[h].id); }

    // ---- Disks.
    Disk& disk(HostIndex h) { return hosts_[h].disk; }
    /// False when there is nothing older.
    bool roll_back_disk(HostIndex h);
    /// Be it a copy: then it is one of its own that is empty.
    void lose_disk(HostIndex h);
    /// The remedy that a node's log names: where most of a cluster have lost their disks, and have
    /// another id since, the others begin anew.
    void empty_left_behind();

    // ---- Links and sessions.
    void cut(HostIndex from, HostIndex to);
    void heal(HostIndex from, HostIndex to);
    /// All connections between the two end by RST.
    void reset_sessions(HostIndex a, HostIndex b);
    /// One bit of the next frame from the one to the other is flipped on its way.
    void flip_next(HostIndex from, HostIndex to) { flip_next_.emplace(from, to); }
    /// The next message of that kind between the two says something else.
    void lie(const Lie& lie) { lies_.push_back(lie); }
    /// Something in between forgets all connections between the two: silence.
    void forget_sessions(HostIndex a, HostIndex b);
    /// Somebody in between ends all connections between the two, at both ends by FIN.
    void forge_fins(HostIndex a, HostIndex b);
    /// Nothing passes on that connection any more; its two ends find out so, or never.
    void sever(std::size_t connection, std::array<std::optional<protocol::SessionEnd>, 2> told);
    /// The outbox of the one that dialled it is full.
    void give_up(std::size_t connection) { make_room(connection, dialler_side); }
    /// A process that is nowhere in the world says that; nobody gets the answer.
    void greet(HostIndex h, HostIndex stranger, const protocol::Hello& hello);

    // ---- What users, tasks and health checks do.
    void change_members(HostIndex h, const protocol::MemberChange& change) {
        give(h, protocol::MembersRequested{change, {protocol::Asker::observer, 1}});
    }
    void resign(HostIndex h, NodeId to) { give(h, protocol::ResignRequested{to, {}}); }
    void set_health(HostIndex h, bool healthy);
    void stall(HostIndex h) { give(h, protocol::Stalled{}); }
    void end_task(HostIndex h, bool failed);
    void hang_task(HostIndex h) { hosts_[h].task.hangs = true; }
    /// A task that hangs ends, if it was asked to.
    void release_task(HostIndex h);

    // ---- Attached processes.
    void attach(HostIndex h);
    void kill_client(std::size_t number, bool leaves_child);
    /// And lives on.
    void close_client(std::size_t number);
    void stop_client(std::size_t number, bool stopped);
    void deafen_client(std::size_t number, bool deaf);
    void guard_client(std::size_t number) { clients_[number].guarded = true; }
    /// It says that its work is done.
    void end_work(std::size_t number, bool again);

private:
    // world.cpp: time and steps
    void handle(const Scheduled& what);
    void give(HostIndex h, protocol::Event event);
    void step(HostIndex h, const protocol::Event& event);
    void carry_out(HostIndex h, const protocol::Action& action);
    void carry_out_rest(HostIndex h, std::vector<protocol::Action> rest);
    void arm(HostIndex h);
    bool is_run(HostIndex h, std::uint32_t run) const {
        return hosts_[h].running() && hosts_[h].run == run;
    }
    Time draw(Range range) {
        if (by_hand()) return range.min;
        return range.min +
               static_cast<Time>(rng_.below(static_cast<std::uint64_t>(range.max - range.min) + 1));
    }
    bool chance(std::uint32_t ppm) { return ppm != 0 && !by_hand() && rng_.below(1'000'000) < ppm; }
    bool arrived(const Parcel& parcel) const { return by_hand() || parcel.arrival <= now_; }
    void tell(const Incident& incident);
    void write_disk(HostIndex h, const protocol::Durable& durable);
    void stop_task(HostIndex h, Epoch epoch);

    // world_clients.cpp: attached processes
    using Candidacies = protocol::Candidacies;
    void heed(std::size_t number);
    void sign(std::size_t number, ClientSign what);
    void hear(std::size_t number, std::uint32_t run, ClientSign what);
    void look(HostIndex h, std::uint32_t run);
    void obey(HostIndex h, const Candidacies::Orders& orders);
    void carry_out(HostIndex h, const Candidacies::Hold& order);
    void carry_out(HostIndex h, const Candidacies::Stop& order);
    void carry_out(HostIndex h, const Candidacies::Release& order);
    void carry_out(HostIndex h, const Candidacies::StartOwn& order);
    void carry_out(HostIndex h, const Candidacies::StopOwn& order);
    void carry_out(HostIndex h, const Candidacies::Tell& order);
    void write_page(HostIndex h, ClientId id, ClientPage page);
    void tell_node(HostIndex h);
    void own_task_ended(HostIndex h, const protocol::TaskEnded& ended);
    Time end_with_node(Client& client);
    void lose_clients(HostIndex h);

    // world_notices.cpp: the undertakers
    void send_notices(HostIndex h);
    void notice(HostIndex h, std::size_t which);

    // world_network.cpp: connections
    /// Of two clusters of one name a mistaken address leads the one to the other.
    bool may_meet(const Host& a, const Host& b) const;
    void note_call(HostIndex h, HostIndex peer, const std::string& from);
    /// nullopt: nobody has that address.
    std::optional<HostIndex> address_of(HostIndex h, HostIndex peer) const;
    /// Two clusters that differ by their names, or by ids that are settled.
    bool can_be_told_apart() const;
    bool has_settled_id(const Host& host) const {
        return host.disk.file && host.disk.file->identity.settled;
    }
    void forget_mistakes_about(HostIndex h);
    void forget_copies_beside(HostIndex h);
    void forget_predecessor();
    bool has_list(const Host& host, const protocol::Membership& list) const;
    void write(Host& host, const protocol::Durable& durable);
    bool may_found(Site site, const protocol::Membership& founders) const;
    /// That peer is one of those that the host deals with.
    bool dials(const Host& host, HostIndex peer) const;
    void deal_with(HostIndex h, const protocol::Membership& members);
    void dial_after(HostIndex h, HostIndex peer, Time wait);
    void dial_again(HostIndex h, HostIndex peer);
    void dial(HostIndex h, HostIndex peer);
    void connected(HostIndex h, HostIndex peer);
    void handshake_late(std::size_t connection);
    void send(const protocol::Send& send);
    void transmit(std::size_t connection, Side from, Parcel&& parcel);
    bool backed_up(Pipe& pipe) const;
    void make_room(std::size_t connection, Side from);
    void close(SessionId session);
    void read(std::size_t connection, Side reader);
    void deliver(std::size_t connection, Side reader, Parcel&& parcel);
    void reject(std::size_t connection, Side reader);
    void tell_lies(const End& from, const End& to, protocol::Message& message);
    void session_over(std::size_t connection, Side side, protocol::SessionEnd how);
    void break_end(std::size_t connection, Side side, protocol::SessionEnd how, Time after);
    void end_noticed(std::size_t connection, Side side);
    void expect_answer(std::size_t connection, Side from);
    void unanswered(std::size_t connection, Side from);
    void stall_link(HostIndex from, HostIndex to);
    void unstall(HostIndex from, HostIndex to);
    void let_go(std::size_t connection, Side side, Death death);
    bool answers(HostIndex h) const { return hosts_[h].machine_up && !hosts_[h].suspended; }
    bool passes(HostIndex from, HostIndex to) const {
        return !links_.cut(from, to) && answers(to) && answers(from);
    }
    bool two_way(HostIndex a, HostIndex b) const { return passes(a, b) && passes(b, a); }
    SessionId session_id(std::size_t connection, Side side) const {
        return {(connection + 1) * 2 + side};
    }

    Settings settings_;
    protocol::Rng rng_;
    Time now_ = 0;
    EventQueue queue_;
    std::vector<Host> hosts_;
    std::vector<protocol::Config> configs_;
    Links links_;
    std::set<std::pair<HostIndex, HostIndex>> flip_next_;
    std::vector<Connection> connections_;
    std::vector<Client> clients_;
    std::vector<Lie> lies_;  // still to be sent
    /// A run that has ended, and until when its undertaker says so.
    struct Ended {
        HostIndex host = 0;
        protocol::HolderKey run;
        Time until = 0;
    };
    std::vector<Ended> ended_;
    struct Observers {
        Observers() = default;
        Observers(const Observers& /*of another world*/) {}
        Observers& operator=(const Observers& /*of another world*/) { return *this; }

        std::vector<Observer*> all;
    };
    Observers observers_;
    std::vector<protocol::Action> actions_;  // of the step that is being made
    std::uint64_t steps_ = 0;
    std::uint64_t delivered_ = 0;
};

/// Room for processes that are no members.
inline constexpr std::size_t impostors_max = 2;

}  // namespace bullring::sim
