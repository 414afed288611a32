#include "src/node/observers/credential_json.hpp"

#include <utility>

namespace bullring {

namespace {

Json ca_json(const ShownCa& ca) { return {{"name", ca.name}, {"key", ca.key}}; }

ShownCa ca_in(const Json& json) {
    return {json.at("name").get<std::string>(), json.at("key").get<std::string>()};
}

void add(Json& json, const ShownCredential& shown) {
    if (!shown.key.empty()) json["key"] = shown.key;
    if (shown.certificate.empty()) return;
    json["certificate"] = shown.certificate;
    json["subject"] = shown.subject;
    json["issuer"] = ca_json(shown.issuer);
    json["not_after"] = shown.not_after;
}

ShownCredential shown_in(const Json& json) {
    ShownCredential shown;
    shown.key = json.value("key", "");
    if (!json.contains("certificate")) return shown;
    shown.certificate = json.at("certificate").get<std::string>();
    shown.subject = json.at("subject").get<std::string>();
    shown.issuer = ca_in(json.at("issuer"));
    shown.not_after = json.at("not_after").get<std::string>();
    return shown;
}

Json own_json(const OwnCredential& own) {
    Json json;
    add(json, own.shown);
    if (!own.shown.key.empty()) {
        json["accepts"] = own.accepts;
        if (!own.observer_keys.empty()) json["observer_keys"] = own.observer_keys;
        return json;
    }
    json["trusts"] = Json::array();
    for (const ShownCa& ca : own.trusts) json["trusts"].push_back(ca_json(ca));
    json["revocations"] = own.revocations;
    return json;
}

/// Null: nobody is authenticated.
Json peer_json(const PeerCredential& peer) {
    if (!peer.secured) return nullptr;
    Json json = Json::object();
    add(json, peer.shown);
    if (!peer.dialled_with.empty()) json["dialled_with"] = peer.dialled_with;
    return json;
}

Json caller_json(const CallerCredential& caller) {
    Json json{{"who", caller.who}, {"from", caller.from}, {"connections", caller.connections}};
    add(json, caller.shown);
    return json;
}

using Strings = std::vector<std::string>;

}  // namespace

void add_credentials(Json& node, const OwnCredential& own, const SessionCredentials& sessions) {
    if (own == OwnCredential{}) return;
    node["credential"] = own_json(own);
    node["peer_credentials"] = Json::object();
    for (const auto& [id, peer] : sessions.peers)
        node["peer_credentials"][std::to_string(id.value)] = peer_json(peer);
    node["callers"] = Json::array();
    for (const CallerCredential& caller : sessions.callers)
        node["callers"].push_back(caller_json(caller));
}

OwnCredential own_credential_in(const Json& node) {
    OwnCredential own;
    const auto found = node.find("credential");
    if (found == node.end() || found->is_null()) return own;
    own.shown = shown_in(*found);
    own.accepts = found->value("accepts", Strings());
    own.observer_keys = found->value("observer_keys", Strings());
    own.revocations = found->value("revocations", Strings());
    if (const auto trusts = found->find("trusts"); trusts != found->end())
        for (const Json& ca : *trusts) own.trusts.push_back(ca_in(ca));
    return own;
}

SessionCredentials session_credentials_in(const Json& node) {
    SessionCredentials sessions;
    if (const auto found = node.find("peer_credentials"); found != node.end())
        for (const auto& [id, peer] : found->items()) {
            PeerCredential& one = sessions.peers[{whole_number(Json::parse(id))}];
            one.secured = !peer.is_null();
            if (!one.secured) continue;
            one.shown = shown_in(peer);
            one.dialled_with = peer.value("dialled_with", "");
        }
    if (const auto found = node.find("callers"); found != node.end())
        for (const Json& caller : *found)
            sessions.callers.push_back({caller.at("who").get<std::string>(),
                                        caller.at("from").get<std::string>(), shown_in(caller),
                                        whole_number(caller.at("connections"))});
    return sessions;
}

}  // namespace bullring
