"""The manifest for Kubernetes, acted out without a cluster: for each replica of a set a network of
its own, its volume, and its container as written; a name server that answers as a headless service
does; and probes as the kubelet asks them, from outside of the pod.
"""

import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading

from harness import system_calls
import yaml
from harness.netns import Bridge
from harness.node import die_with_parent
from chaos.switch import reply_to
from containers import Container
from harness.packaging_files import SOURCES

MANIFEST = (SOURCES / "container" / "kubernetes.yaml").read_text()
# By which a program beside the node asks whether it leads.
LEADER_URL = re.search(r"http://localhost:(\d+)(/\w+)", MANIFEST)
NODE = 254  # the end of the address of the machine on which the pods run
DOMAIN = "svc.cluster.local"


def manifest():
    """Its objects by kind and name."""
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(MANIFEST)}


class PodNetwork(Bridge):
    """Where pods come and go, each with a new address; in the middle is their machine, which has
    the name server."""

    def __init__(self):
        super().__init__([])
        self.node_address = f"10.99.0.{NODE}"
        self._ip("-n", self._middle, "addr", "add", f"{self.node_address}/24", "dev", "switch")
        self._last = 0
        self.names = {}  # address by name
        with system_calls.inside(self.middle):
            self._server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self._server.bind((self.node_address, 53))
        threading.Thread(target=self._answer, daemon=True).start()

    @property
    def middle(self):
        return self._path(self._middle)

    def add(self):
        """The number of a new host."""
        self._last += 1
        self._number[self._last] = self._last
        self._attach(self._last, self._last)
        return self._last

    def remove(self, number):
        space = self._name(number)
        self._ip("-n", self._middle, "link", "del", self._port(number))
        self._ip("netns", "del", space)
        self._spaces.remove(space)

    def resolver(self, namespace):
        """The contents of a pod's resolv.conf."""
        search = f"{namespace}.{DOMAIN} {DOMAIN} cluster.local"
        return f"nameserver {self.node_address}\nsearch {search}\noptions ndots:5\n"

    def _answer(self):
        while True:
            try:
                question, caller = self._server.recvfrom(4096)
                if (reply := reply_to(question, self.names)) is not None:
                    self._server.sendto(reply, caller)
            except OSError:
                if self._server.fileno() < 0:
                    return

    def close(self):
        self._server.close()
        super().close()


class Probe:
    """One probe of a container, asked from the pods' machine."""

    def __init__(self, written, ports, network):
        self.path = written["httpGet"]["path"]
        port = written["httpGet"]["port"]
        self.port = ports.get(port, port)
        self.timeout = written.get("timeoutSeconds", 1)
        self.network = network

    def ask(self, address):
        """Its status; None: there is no answer in time."""
        return get(self.network, address, self.port, self.path, self.timeout)[0]

    def succeeds(self, address):
        status = self.ask(address)
        return status is not None and 200 <= status < 400


def get(network, address, port, path, timeout=1):
    """(status, body) of a GET by the pods' machine; (None, ""): there is no answer in time."""
    connection = http.client.HTTPConnection(address, port, timeout=timeout)
    try:
        with system_calls.inside(network.middle):
            connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException):
        return None, ""
    finally:
        connection.close()


class StandIn:
    """In the place of a program of one's own beside the node, in the same pod: tells whether the
    node says to it that it leads."""

    def __init__(self, pod, port):
        path = pod.network.path(pod.number)
        node_port, node_path = LEADER_URL.groups()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                node = http.client.HTTPConnection("127.0.0.1", int(node_port), timeout=5)
                with system_calls.inside(path):
                    node.request("GET", node_path)
                leads = node.getresponse().status == 200
                node.close()
                body = f"{pod.name} {'leads' if leads else 'does not lead'}".encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        with system_calls.inside(path):
            self.server = http.server.ThreadingHTTPServer(("0.0.0.0", port), Handler)
        threading.Thread(target=self.server.serve_forever, args=[0.05], daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Pod:
    """One replica of the set: while it is there it has an address, which has its name."""

    def __init__(self, members, index, root, containerfile, network, directory):
        """`members`: the StatefulSet; `directory`: for its log and volumes, which outlive it."""
        spec = members["spec"]
        self.settings = {}  # variables in place of those of the manifest
        self.index, self.network, self.root, self.file = index, network, root, containerfile
        self.directory = pathlib.Path(directory)
        self.set, self.namespace = members["metadata"]["name"], members["metadata"]["namespace"]
        self.name = f"{self.set}-{index}"
        self.service = f"{spec['serviceName']}.{self.namespace}.{DOMAIN}"
        self.domain = f"{self.name}.{self.service}"
        pod = spec["template"]["spec"]
        self.rights = pod["securityContext"]
        self.grace = pod["terminationGracePeriodSeconds"]
        (self.written,) = [one for one in pod["containers"] if one["name"] == "bullring"]
        (self.beside,) = [one for one in pod["containers"] if one["name"] != "bullring"]
        self.ports = {port["name"]: port["containerPort"] for port in self.written["ports"]}
        self.live, self.ready = (
            Probe(self.written[kind], self.ports, network)
            for kind in ("livenessProbe", "readinessProbe")
        )
        self.volumes = {}
        for claim in spec["volumeClaimTemplates"]:
            name = claim["metadata"]["name"]
            folder = self.directory / name
            folder.mkdir(parents=True)
            os.chown(folder, 0, self.rights["fsGroup"])
            folder.chmod(0o2775)
            self.volumes[name] = folder
        self.number = self.address = self.container = self.program = None

    def create(self):
        """It gets an address and its name at once, and starts what it has."""
        self.number = self.network.add()
        self.address = self.network.addresses[self.number]
        self.network.names[self.domain] = self.address
        self.network.names.setdefault(self.service, []).append(self.address)
        self.program = StandIn(self, self.beside["ports"][0]["containerPort"])
        self.start()

    def start(self):
        """Its container; again when that has ended."""
        own = self.written["securityContext"]
        space = self.network.path(self.number)
        self.container = Container(self.root, self.file, space, self.directory / "container")
        self.container.start(
            self.name,
            arguments=self.written["args"],
            # Each container gets the cluster's services as variables.
            environment={
                "HOSTNAME": self.name,
                "KUBERNETES_SERVICE_HOST": "10.96.0.1",
                "KUBERNETES_PORT": "tcp://10.96.0.1:443",
                **self._variables(),
                **self.settings,
            },
            files={
                "/etc/hosts": f"127.0.0.1 localhost\n{self.address} {self.domain} {self.name}\n",
                "/etc/resolv.conf": self.network.resolver(self.namespace),
            },
            volumes={
                mount["mountPath"]: self.volumes[mount["name"]]
                for mount in self.written["volumeMounts"]
            },
            user=self.rights["runAsUser"],
            group=self.rights["runAsGroup"],
            groups=[self.rights["fsGroup"]],
            read_only=own["readOnlyRootFilesystem"],
            drop_all=own["capabilities"] == {"drop": ["ALL"]},
            no_new_privileges=not own["allowPrivilegeEscalation"],
        )

    def _variables(self):
        """Those of the manifest, in which $(NAME) stands for an earlier one."""
        values = {}
        for one in self.written["env"]:
            if "valueFrom" in one:
                assert one["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}
                values[one["name"]] = self.name
            else:
                values[one["name"]] = re.sub(
                    r"\$\((\w+)\)", lambda found: values[found[1]], one["value"]
                )
        return values

    def get(self, path):
        return get(self.network, self.address, self.ports["http"], path)

    def told(self, path):
        """The JSON of its answer, asked once: it has the time that a busy machine may need."""
        status, body = get(self.network, self.address, self.ports["http"], path, timeout=30)
        assert body, f"{self.name} did not answer {path} in 30 s, status {status}"
        return json.loads(body)

    @property
    def there(self):
        return self.address is not None

    @property
    def leads(self):
        return self.there and self.get("/leader")[0] == 200

    def delete(self, with_its_machine=False):
        """Without a word: what runs in it is killed; with its machine the network goes first."""
        if with_its_machine:
            self.network.unplug(self.number)
        self.container.kill()
        self._vanish()

    def end(self):
        """As a rolling update or a drain ends it; the exit status."""
        status = self.container.stop(self.grace)
        self._vanish()
        return status

    def _vanish(self):
        self.program.close()
        del self.network.names[self.domain]
        self.network.names[self.service].remove(self.address)
        self.network.remove(self.number)
        self.number = self.address = None

    def close(self):
        if self.container is not None:
            self.container.kill()
        if self.there:
            self.program.close()


class Proxy:
    """A pod of the leader's service: haproxy of this machine, with the manifest's configuration."""

    def __init__(self, objects, network, directory):
        self.network = network
        number = network.add()
        self.address = network.addresses[number]
        deployment = objects["Deployment", "poller-leader"]
        pod = deployment["spec"]["template"]["spec"]
        (written,) = pod["containers"]
        self.ports = {port["name"]: port["containerPort"] for port in written["ports"]}
        self.ready = Probe(written["readinessProbe"], self.ports, network)
        directory = pathlib.Path(directory)
        mounts = [(directory / "resolv.conf", pathlib.Path("/etc/resolv.conf").resolve())]
        mounts[0][0].write_text(network.resolver(deployment["metadata"]["namespace"]))
        volumes = {one["name"]: one["configMap"]["name"] for one in pod["volumes"]}
        for mount in written["volumeMounts"]:
            folder = directory / mount["name"]
            folder.mkdir()
            for name, text in objects["ConfigMap", volumes[mount["name"]]]["data"].items():
                (folder / name).write_text(text)
            mounts.append((folder, mount["mountPath"]))
        binds = "".join(f"mount --bind {source} {target}\n" for source, target in mounts)
        user = str(pod["securityContext"]["runAsUser"])
        rights = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        rights += ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        # The image's own entry point puts these two flags in.
        program, *arguments = written["args"]
        haproxy = [shutil.which(program, path="/usr/sbin:/usr/bin"), "-W", "-db", *arguments]
        enter = ["nsenter", f"--net={network.path(number)}", "unshare", "--mount"]
        with open(directory / "haproxy.log", "ab") as log:
            self.process = subprocess.Popen(
                [*enter, "sh", "-ec", f'{binds}exec "$@"', "proxy", *rights, *haproxy],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )

    def reached(self):
        """The answer at the leader's service; None: there is none."""
        return get(self.network, self.address, self.ports["poller"], "/")[1] or None

    def close(self):
        self.process.kill()
        self.process.wait()
