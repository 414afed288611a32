"""All systems, in the order of the table. A new one is a file beside this one, and a line here."""

from peers.bullring import Bully, Ring
from peers.corosync import Corosync
from peers.etcd import Etcd
from peers.keepalived import Keepalived
from peers.sentinel import Sentinel
from peers.zookeeper import Zookeeper

SYSTEMS = (Bully, Ring, Etcd, Zookeeper, Sentinel, Keepalived, Corosync)
