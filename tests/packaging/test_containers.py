"""The manifest for Kubernetes and the container file, as far as they can be judged without either:
their structure, and the proxy of the leader's service, which runs.
"""

import http.server
import re
import shutil
import socket
import subprocess
import threading

import pytest
from harness.net import PortHolder
from harness.node import find_program
from harness.packaging_files import ROOT, SOURCES, run
from pods import manifest
from harness.waiting import DEADLINE, wait_until

pytestmark = pytest.mark.beside

OBJECTS = manifest()
MEMBERS = OBJECTS["StatefulSet", "poller"]["spec"]
POD = MEMBERS["template"]["spec"]
(NODE,) = [one for one in POD["containers"] if one["name"] == "bullring"]
VARIABLES = {one["name"]: one.get("value") for one in NODE["env"]}
PROXY = OBJECTS["ConfigMap", "poller-leader"]["data"]["haproxy.cfg"]


def pods_of(selector):
    """The workloads whose pods a selector takes."""
    return [
        one["metadata"]["name"]
        for one in OBJECTS.values()
        if "template" in one["spec" if "spec" in one else "data"]
        and selector.items() <= one["spec"]["template"]["metadata"]["labels"].items()
    ]


def test_each_member_is_found_by_the_others_before_anybody_is_ready():
    service = OBJECTS["Service", "poller-members"]["spec"]
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"] is True
    assert MEMBERS["serviceName"] == "poller-members"
    assert MEMBERS["podManagementPolicy"] == "Parallel"
    assert pods_of(service["selector"]) == ["poller"]
    assert pods_of(MEMBERS["selector"]["matchLabels"]) == ["poller"]


def test_the_peers_are_the_pods_of_the_set_and_each_finds_its_own_id():
    peers = dict(entry.split("=") for entry in VARIABLES["BULLRING_PEERS"].split(","))
    assert len(peers) == MEMBERS["replicas"] == 3
    for number in range(MEMBERS["replicas"]):
        assert peers[str(number + 1)] == f"poller-{number}.poller-members:7100"
    # All others join, by a name that outlives their address.
    assert VARIABLES["BULLRING_JOIN"] == "poller-members:7100"
    assert VARIABLES["BULLRING_JOIN_AS"] == "$(POD_NAME).poller-members:7100"
    assert NODE["args"][:3] == ["node", "--id", "hostname"]
    assert VARIABLES["BULLRING_LISTEN"] == "0.0.0.0:7100"  # its own name need not resolve yet
    assert {"name": "peers", "containerPort": 7100} in NODE["ports"]


def test_the_probes_restart_for_the_loop_alone_and_are_ready_with_a_leader():
    assert NODE["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "http"}
    assert NODE["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert {"name": "http", "containerPort": 7180} in NODE["ports"]
    assert NODE["args"][3:] == ["--http", "0.0.0.0:7180", "--http-public"]


def test_a_majority_survives_a_drain():
    budget = OBJECTS["PodDisruptionBudget", "poller"]["spec"]
    assert budget["maxUnavailable"] == 1
    assert pods_of(budget["selector"]["matchLabels"]) == ["poller"]
    (rule,) = POD["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    assert pods_of(rule["labelSelector"]["matchLabels"]) == ["poller"]


def test_nothing_runs_with_rights_that_it_does_not_need():
    for kind, name in (("StatefulSet", "poller"), ("Deployment", "poller-leader")):
        pod = OBJECTS[kind, name]["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["readOnlyRootFilesystem"] is True
            assert context["capabilities"] == {"drop": ["ALL"]}


def test_the_state_outlives_the_pod():
    (claim,) = MEMBERS["volumeClaimTemplates"]
    (mount,) = [one for one in NODE["volumeMounts"] if one["name"] == claim["metadata"]["name"]]
    assert VARIABLES["BULLRING_DATA_DIR"].startswith(mount["mountPath"])


def test_the_variables_are_flags_of_the_node():
    flags = set(re.findall(r"--[a-z-]+", run(find_program(), "node", "--help")))
    for variable in VARIABLES.keys() - {"POD_NAME"}:
        assert "--" + variable.removeprefix("BULLRING_").lower().replace("_", "-") in flags


SERVERS = re.compile(
    r"(?m)^( *)server-template poller 1-16 poller-members\.default\.svc\.cluster\.local:8080$"
)


def test_the_leaders_service_is_the_proxy_which_finds_all_members():
    service = OBJECTS["Service", "poller-leader"]["spec"]
    assert pods_of(service["selector"]) == ["poller-leader"]
    assert len(SERVERS.findall(PROXY)) == 1
    assert "option httpchk GET /leader" in PROXY


class Member:
    """A member as the proxy sees it: it says whether it leads, and its program who it is."""

    def __init__(self, host, http_port, port):
        self.leads = False
        self.host = host
        self.servers = [
            self._serve(http_port, self.answer_leader),
            self._serve(port, lambda path: (200, host)),
        ]

    def answer_leader(self, path):
        return (200 if self.leads and path == "/leader" else 503), ""

    def _serve(self, port, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                status, body = answer(self.path)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer((self.host, port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


@pytest.fixture
def members(tmp_path):
    """Three members, and the proxy of the manifest before them; the latter's port."""
    haproxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if not haproxy:
        pytest.skip("haproxy is not installed")
    ports = PortHolder()
    front, health, program, http_port = (ports.take() for _ in range(4))
    made = [Member(f"127.0.0.{11 + n}", http_port, program) for n in range(3)]
    text = PROXY.replace("bind :8080", f"bind 127.0.0.1:{front}")
    text = text.replace("bind :8081", f"bind 127.0.0.1:{health}")
    text = text.replace("port 7180", f"port {http_port}")
    servers = [f"server poller{n} {member.host}:{program}" for n, member in enumerate(made, 1)]
    text = SERVERS.sub(lambda found: "\n".join(found[1] + line for line in servers), text)
    file = tmp_path / "haproxy.cfg"
    file.write_text(text)
    run(haproxy, "-c", "-f", file)
    process = subprocess.Popen([haproxy, "-db", "-f", file], stderr=subprocess.DEVNULL)
    yield made, front, health
    process.kill()
    process.wait()
    for member in made:
        member.close()
    ports.release()


def reached(port):
    """Which member answers at the leader's service; None: nobody."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            answer = b""
            while received := connection.recv(4096):
                answer += received
    except OSError:
        return None
    return answer.rsplit(b"\r\n\r\n", 1)[-1].decode() or None


def wait_reached(port, expected):
    wait_until(lambda: reached(port) == expected, lambda: f"{expected} instead of {reached(port)}")


def test_the_leaders_service_follows_the_leader(members):
    (one, two, three), front, health = members
    wait_reached(front, None)
    for leader in (three, one, two):
        leader.leads = True
        wait_reached(front, leader.host)
        leader.leads = False
        wait_reached(front, None)
    with socket.create_connection(("127.0.0.1", health), 5) as connection:
        connection.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
        assert b" 200 " in connection.recv(4096)


def test_a_connection_to_who_no_longer_leads_is_cut(members):
    (one, _, _), front, _ = members
    one.leads = True
    wait_reached(front, one.host)
    with socket.create_connection(("127.0.0.1", front), DEADLINE) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")  # and no more
        one.leads = False
        try:
            assert connection.recv(4096) == b""
        except ConnectionResetError:
            pass


def test_the_container_runs_the_packaged_program_as_nobody_in_particular():
    text = (SOURCES / "container" / "Containerfile").read_text()
    lines = [line for line in text.splitlines() if re.match(r"[A-Z]+ ", line)]
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert bases == ["debian:12", "debian:12-slim"]
    assert "USER 65532:65532" in lines
    assert "STOPSIGNAL SIGTERM" in lines
    # A majority that is gone is no reason to restart a member of it.
    assert not any(line.startswith("HEALTHCHECK") for line in lines)
    assert (ROOT / "scripts" / "package").exists()
