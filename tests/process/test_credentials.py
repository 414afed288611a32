"""`bullring key` and `bullring cert`: what they make, as openssl sees it, and what they refuse."""

import fcntl
import os
import re
import stat
import subprocess

import pytest
from harness.node import DEADLINE, find_program
from harness.waiting import wait_until

pytestmark = pytest.mark.beside

KEY = "bullring-key-v1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
KEY_ID = "630dcd29"
NEW_KEY = re.compile(r"bullring-key-v1:[A-Za-z0-9_-]{43}\n")


@pytest.fixture
def bullring(tmp_path):
    """Runs it in the directory of the test."""

    def run(*words, stdout=subprocess.PIPE, **environment):
        return subprocess.run(
            [find_program(), *words],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), **environment},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
        )

    return run


@pytest.fixture
def made(bullring):
    """Does it, and gives what it printed."""

    def run(*words):
        done = bullring(*words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


@pytest.fixture
def at_once(spawn, tmp_path):
    """Does all of it at one time, and gives the statuses."""

    def run(commands):
        started = [
            spawn([find_program(), *words], cwd=tmp_path, stdout=subprocess.DEVNULL)
            for words in commands
        ]
        return [one.wait(timeout=DEADLINE) for one in started]

    return run


@pytest.fixture
def refused(bullring):
    """The complaint of a refusal: one line, for status 2."""

    def run(*words, status=2):
        done = bullring(*words)
        assert (done.returncode, done.stdout) == (status, ""), done.stderr
        assert done.stderr.count("\n") == 1
        return done.stderr

    return run


def without_days_left(shown):
    """The text without the days that it is valid yet, which are fewer one second later."""
    return re.sub(r" \(\d+ days left\)", "", shown)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def key_file(path, text=KEY + "\n", permissions=0o600):
    path.write_text(text)
    path.chmod(permissions)
    return path


class TestKey:
    def test_a_new_key_is_a_line_on_stdout(self, made):
        one, other = made("key", "new"), made("key", "new")
        assert NEW_KEY.fullmatch(one) and NEW_KEY.fullmatch(other) and one != other

    def test_a_new_key_goes_into_a_file_of_its_owner_alone(self, made, refused, tmp_path):
        assert made("key", "new", "--out", "k") == ""
        text = (tmp_path / "k").read_text()
        assert NEW_KEY.fullmatch(text) and mode(tmp_path / "k") == 0o600
        assert "is there already" in refused("key", "new", "--out", "k")
        assert (tmp_path / "k").read_text() == text
        assert "No such file" in refused("key", "new", "--out", "none/k", status=1)
        assert "is there already" in refused("key", "new", "--out", "/dev/full")

    def test_a_full_disk_is_told(self, bullring):
        with open("/dev/full", "w") as full:
            done = bullring("key", "new", stdout=full)
        assert (done.returncode, done.stderr) == (1, "bullring: stdout can't be written\n")

    def test_a_rotation_goes_by_three_steps(self, made, refused, tmp_path):
        file = key_file(tmp_path / "k", f"# poller\n{KEY}\n", 0o400)
        assert made("key", "list", "k").split("\n")[1:] == [
            f"{KEY_ID}  dialled with, and accepted",
            "",
        ]
        fresh = made("key", "add", "k").split("\n")[2].split()[0]
        assert made("key", "use", fresh, "k").split("\n")[1].startswith(fresh)
        assert "dials with" in refused("key", "remove", fresh, "k")
        made("key", "remove", KEY_ID, "k")
        comment, key = file.read_text().splitlines(keepends=True)
        assert comment == "# poller\n" and NEW_KEY.fullmatch(key) and mode(file) == 0o400
        assert [entry.name for entry in tmp_path.iterdir()] == ["k"]

    def test_no_more_than_eight_keys_are_added(self, made, refused, tmp_path):
        key_file(tmp_path / "k")
        for _ in range(7):
            made("key", "add", "k")
        text = (tmp_path / "k").read_text()
        assert "at most 8" in refused("key", "add", "k")
        assert (tmp_path / "k").read_text() == text

    def test_keys_that_are_added_at_one_time_are_all_there(self, made, at_once, tmp_path):
        key_file(tmp_path / "k")
        done = at_once([["key", "add", "k"]] * 7)
        assert done == [0] * 7
        assert len(made("key", "list", "k").splitlines()) == 1 + 8
        assert [entry.name for entry in tmp_path.iterdir()] == ["k"]

    def test_another_programs_lock_is_waited_for(self, spawn, made, tmp_path):
        file = key_file(tmp_path / "k")
        with open(file) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            added = spawn([find_program(), "key", "add", "k"], cwd=tmp_path)
            # pause: what does not wait is done by now
            with pytest.raises(subprocess.TimeoutExpired):
                added.wait(timeout=0.5)
            assert file.read_text() == KEY + "\n"
        assert added.wait(timeout=DEADLINE) == 0
        assert len(file.read_text().splitlines()) == 2

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "is empty; expected a line as bullring key new makes it"),
            ("\nsecret\n", "line 2 is no key; expected bullring-key-v1: and 43 letters"),
            (KEY + "A\n", "line 1 has 44 characters after bullring-key-v1:; expected 43"),
            (KEY[:-1] + "!\n", "line 1 has at column 59 what is no letter of base64url"),
            (f"{KEY} {KEY}\n", "line 1 has more than one key; expected one a line"),
            ("#" * 5000, "is longer than 4096 bytes"),
        ],
        ids=["empty", "no-key", "overlong", "not-base64", "two-on-a-line", "long-file"],
    )
    def test_a_wrong_file_is_refused_by_its_line(self, refused, tmp_path, text, said):
        key_file(tmp_path / "k", text)
        for words in (["list", "k"], ["add", "k"], ["use", KEY_ID, "k"]):
            refusal = refused("key", *words)
            assert f'the file "k" {said}' in refusal
            assert "secret" not in refusal and "AAECAw" not in refusal
        assert (tmp_path / "k").read_text() == text

    def test_a_file_that_others_can_read_is_refused(self, refused, tmp_path):
        key_file(tmp_path / "k", permissions=0o604)
        assert "(mode 0604); expected a file of its owner alone (chmod 600)" in refused(
            "key", "list", "k"
        )
        (tmp_path / "d").mkdir()
        assert "is not a regular file" in refused("key", "list", "d")
        assert "No such file" in refused("key", "list", "none")

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ([], "no action; expected one of new, list, add, use, remove"),
            (["make"], 'unknown action "make"; expected one of new,'),
            (["new", "k"], 'unexpected argument "k"; expected bullring key new'),
            (["list"], "no FILE; expected bullring key list FILE"),
            (["list", ""], '"" is no FILE'),
            (["list", "k", "l"], 'unexpected argument "l"'),
            (["use", KEY_ID], "no FILE; expected bullring key use ID FILE"),
            (["use", "1", "k"], '"1" is no key\'s ID; expected 8 hex digits'),
            (["use", KEY_ID, "k", "--out", "l"], "--out: it means nothing to key use"),
            (["new", "--out="], '--out: "" names no file'),
            (["new", "--days", "1"], "key has no flag"),
        ],
    )
    def test_a_wrong_command_line_is_refused(self, refused, words, said):
        assert said in refused("key", *words)


@pytest.fixture
def openssl(tmp_path):
    def run(*words):
        return subprocess.run(
            ["openssl", *words], cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE
        )

    return run


@pytest.fixture
def authority(made, tmp_path):
    """A CA of the cluster blue in the directory ca, and certificates of it."""
    made("cert", "ca", "--cluster", "blue", "--out", "ca")
    made("cert", "node", "1", "2", "--ca", "ca")
    made("cert", "admin", "--ca", "ca")
    made("cert", "observer", "--ca", "ca")
    return tmp_path / "ca"


@pytest.fixture
def handshake(spawn, tmp_path):
    """The reports of openssl's client and server on each other, by TLS 1.3 and certificates."""

    def make(client, *server_flags):
        both = ["-CAfile", "ca/ca.pem", "-verify_return_error", "-tls1_3"]
        said = tmp_path / "said"
        with open(said, "wb") as out:
            server = spawn(
                ["openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-Verify", "1"]
                + ["-cert", "node-1.pem", "-key", "node-1.key", *both, *server_flags],
                cwd=tmp_path,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        listens = re.compile(r"^ACCEPT (\S+)\n", re.M)
        found = wait_until(lambda: listens.search(said.read_text()), "openssl's server listens")
        subprocess.run(
            ["openssl", "s_client", "-connect", found[1], *both]
            + ["-cert", f"{client}.pem", "-key", f"{client}.key"],
            cwd=tmp_path,
            input="Q\n",
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        server.communicate(timeout=DEADLINE)
        return said.read_text()

    return make


class TestCert:
    @pytest.mark.parametrize("name", ["node-1", "node-2", "admin", "observer"])
    def test_openssl_trusts_it(self, authority, openssl, tmp_path, name):
        purposes = ["sslclient"] + (["sslserver"] if name.startswith("node") else [])
        for purpose in purposes:
            done = openssl(
                *("verify", "-x509_strict", "-CAfile", "ca/ca.pem"),
                *("-purpose", purpose, f"{name}.pem"),
            )
            assert done.stdout == f"{name}.pem: OK\n", done.stderr
        text = openssl("x509", "-in", f"{name}.pem", "-noout", "-text").stdout
        assert f"URI:bullring://blue/{name.replace('-', '/')}\n" in text
        assert "CA:FALSE" in text and "Digital Signature" in text
        assert ("TLS Web Server Authentication" in text) == name.startswith("node")
        assert mode(tmp_path / f"{name}.key") == 0o600
        assert mode(tmp_path / f"{name}.pem") == 0o644
        assert openssl("pkey", "-in", f"{name}.key", "-check", "-noout").returncode == 0

    def test_the_ca_is_one_and_nothing_else(self, authority, openssl):
        text = openssl("x509", "-in", "ca/ca.pem", "-noout", "-text").stdout
        assert "CA:TRUE, pathlen:0" in text and "Certificate Sign, CRL Sign" in text
        assert "URI:bullring://blue/ca" in text and "NIST CURVE: P-256" in text
        assert mode(authority / "ca.key") == 0o600 and mode(authority) == 0o700
        assert (
            openssl("verify", "-x509_strict", "-CAfile", "ca/ca.pem", "ca/ca.pem").returncode == 0
        )

    @pytest.mark.parametrize("client", ["node-2", "admin", "observer"])
    def test_a_mutual_handshake_of_tls_1_3_succeeds(self, authority, handshake, client):
        said = handshake(client)
        assert "CIPHER is TLS_" in said and "ERROR" not in said

    def test_what_is_revoked_is_refused(self, authority, made, openssl, handshake, tmp_path):
        (issued,) = (authority / "issued").glob("admin-*.pem")
        (tmp_path / "node-2.pem").rename(tmp_path / "stolen.pem")
        assert "revoked   none\n" in made("cert", "crl", "--ca", "ca")
        made("cert", "revoke", "--ca", "ca", f"ca/issued/{issued.name}")
        listed = made("cert", "revoke", "--ca", "ca", "stolen.pem")
        assert len(re.findall(r"(?m)^  revoked   [0-9A-F]+ on 20", listed)) == 2
        shown = made("cert", "show", "ca/crl.pem")
        assert without_days_left(shown) == without_days_left(listed)
        words = ["-CAfile", "ca/ca.pem", "-CRLfile", "ca/crl.pem", "-crl_check"]
        assert "revoked" in openssl("verify", *words, "admin.pem").stderr
        assert openssl("verify", *words, "observer.pem").stdout == "observer.pem: OK\n"
        crl = ["-CRL", "ca/crl.pem", "-crl_check"]
        assert "CIPHER is TLS_" in handshake("observer", *crl)
        assert "CIPHER is TLS_" not in handshake("admin", *crl)

    def test_all_that_is_revoked_at_one_time_is_in_the_list(self, authority, made, at_once):
        ids = [str(id) for id in range(10, 22)]
        made("cert", "node", *ids, "--ca", "ca")
        done = at_once([["cert", "revoke", "--ca", "ca", f"node-{id}.pem"] for id in ids])
        assert done == [0] * len(ids)
        listed = made("cert", "show", "ca/crl.pem")
        assert len(re.findall(r"(?m)^  revoked   [0-9A-F]+ on 20", listed)) == len(ids)

    def test_certificates_that_replace_each_other_at_one_time_fit_their_keys(
        self, authority, at_once, openssl
    ):
        assert at_once([["cert", "node", "1", "--ca", "ca", "--overwrite"]] * 8) == [0] * 8
        of_both = [
            openssl(*words).stdout
            for words in (
                ["x509", "-in", "node-1.pem", "-noout", "-pubkey"],
                ["pkey", "-in", "node-1.key", "-pubout"],
            )
        ]
        assert of_both[0] == of_both[1]
        assert len(list((authority / "issued").glob("node-1-*.pem"))) == 1 + 8

    def test_another_clusters_certificate_is_not_revoked(self, authority, made, refused, tmp_path):
        made("cert", "ca", "--cluster", "red", "--out", "red")
        assert "is not signed by the CA" in refused("cert", "revoke", "--ca", "red", "admin.pem")
        assert not (tmp_path / "red" / "crl.pem").exists()
        made("cert", "crl", "--ca", "ca")
        (tmp_path / "red" / "crl.pem").write_bytes((authority / "crl.pem").read_bytes())
        assert "crl.pem is not a list that this CA" in refused("cert", "crl", "--ca", "red")

    def test_a_ca_does_not_revoke_itself(self, authority, made, refused):
        said = refused("cert", "revoke", "--ca", "ca", "ca/ca.pem")
        assert "is the certificate of a CA" in said and "take it out of every file" in said
        assert not (authority / "crl.pem").exists()

    def test_it_shows_whom_a_certificate_is_for(self, authority, made):
        shown = made("cert", "show", "node-1.pem", "admin.pem", "ca/ca.pem")
        assert re.findall(r"(?m)^\S+$|^  identity +(\S+)$", shown) == [
            *("", "bullring://blue/node/1", "", "bullring://blue/admin"),
            *("", "bullring://blue/ca"),
        ]
        assert "use       serverAuth, clientAuth\n" in shown
        assert re.search(r"valid     20\S+Z to 20\S+Z \(36[45] days left\)\n", shown)

    def test_nothing_is_overwritten_unless_told(self, authority, made, refused, tmp_path):
        before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
        assert "is there already; --overwrite" in refused("cert", "node", "1", "3", "--ca", "ca")
        assert "is there already" in refused("cert", "ca", "--out", "ca")
        assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before
        made("cert", "node", "1", "--ca", "ca", "--overwrite")
        after = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
        changed = {path.name for path in after if after[path] != before[path]}
        assert changed == {"node-1.pem", "node-1.key"}

    def test_the_cluster_is_that_of_the_ca(self, authority, refused, made, bullring):
        words = ["cert", "node", "3", "--ca", "ca"]
        assert '"red" is not the cluster' in refused(*words, "--cluster", "red")
        done = bullring(*words, BULLRING_CLUSTER="red")
        assert done.returncode == 2
        assert "node 3 of cluster blue" in made(*words, "--cluster", "blue")

    def test_a_ca_that_is_none_is_refused(self, authority, refused, tmp_path):
        words = ["cert", "admin", "--out", "o", "--ca"]
        assert "No such file" in refused(*words, "none")
        (authority / "ca.key").chmod(0o644)
        assert "(mode 0644)" in refused(*words, "ca")
        (authority / "ca.key").chmod(0o600)
        (authority / "ca.key").write_bytes((tmp_path / "admin.key").read_bytes())
        assert "ca.key is not the key of ca.pem" in refused(*words, "ca")
        (authority / "ca.pem").write_text("nothing")
        assert "has no certificate" in refused(*words, "ca")
        assert not (tmp_path / "o").exists()

    def test_one_ca_takes_over_from_another(self, authority, made, openssl, tmp_path):
        made("cert", "ca", "--cluster", "blue", "--out", "new")
        made("cert", "node", "9", "--ca", "new")
        both = [(tmp_path / name / "ca.pem").read_text() for name in ("ca", "new")]
        (tmp_path / "both.pem").write_text("".join(both))
        done = openssl("verify", "-CAfile", "both.pem", "node-1.pem", "node-9.pem")
        assert done.stdout == "node-1.pem: OK\nnode-9.pem: OK\n"

    def test_an_encrypted_key_asks_nobody(self, authority, refused, openssl):
        openssl(
            *("pkey", "-in", "ca/ca.key", "-aes256", "-passout", "pass:x"), "-out", "ca/locked.key"
        )
        os.replace(authority / "locked.key", authority / "ca.key")
        (authority / "ca.key").chmod(0o600)
        assert "is encrypted" in refused("cert", "node", "9", "--ca", "ca")

    @pytest.mark.parametrize("kind", ["ec", "rsa", "ed25519"])
    def test_a_ca_of_other_making_does(self, made, openssl, tmp_path, kind):
        (tmp_path / "own").mkdir()
        new_key = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"]}.get(kind, [kind])
        done = openssl(
            *("req", "-x509", "-nodes", "-newkey", *new_key, "-subj", "/CN=own", "-days", "9"),
            *("-keyout", "own/ca.key", "-out", "own/ca.pem"),
        )
        assert done.returncode == 0, done.stderr
        (tmp_path / "own" / "ca.key").chmod(0o600)
        assert "node 1 of cluster red" in made(
            "cert", "node", "1", "--ca", "own", "--cluster", "red"
        )
        made("cert", "crl", "--ca", "own")
        words = ["-CAfile", "own/ca.pem", "-CRLfile", "own/crl.pem", "-crl_check"]
        assert openssl("verify", *words, "node-1.pem").stdout == "node-1.pem: OK\n"

    def test_what_cannot_be_written_is_told(self, authority, refused, bullring, tmp_path):
        words = ["cert", "node", "7", "--ca", "ca", "--out"]
        assert "can't be made: No such file" in refused(*words, "no/where", status=1)
        assert "can't be made: File exists" in refused(*words, "admin.pem", status=1)
        with open("/dev/full", "w") as full:
            done = bullring("cert", "show", "admin.pem", stdout=full)
        assert (done.returncode, done.stderr) == (1, "bullring: stdout can't be written\n")

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ([], "no action; expected one of ca, node, admin, observer, show, revoke, crl"),
            (["sign"], 'unknown action "sign"'),
            (["ca", "x"], 'unexpected argument "x"; expected bullring cert ca'),
            (["ca", "--cluster", "a/b"], '"a/b" is not a cluster\'s name'),
            (["ca", "--days", "0"], '--days: "0" is out of range; expected a whole number'),
            (["ca", "--overwrite"], "--overwrite: it means nothing to cert ca"),
            (["ca", "--ca", "d"], "--ca: it means nothing to cert ca"),
            (["crl", "--out", "d"], "--out: it means nothing to cert crl"),
            (["revoke", "f", "--cluster", "c"], "--cluster: it means nothing to cert revoke"),
            (["show", "f", "--days", "9"], "--days: it means nothing to cert show"),
            (["ca", "--out="], '--out: "" names no directory'),
            (["node"], "no ID; expected bullring cert node ID…"),
            (["node", "0"], '"0"'),
            (["node", "1", "1"], "ID 1 is given twice"),
            (["show"], "no FILE; expected bullring cert show FILE…"),
            (["show", "none"], "No such file"),
            (["show", "/dev/null"], "has no certificate"),
        ],
    )
    def test_a_wrong_command_line_is_refused(self, refused, words, said):
        assert said in refused("cert", *words)

    def test_too_many_days_are_refused(self, made, refused, tmp_path):
        made("cert", "ca", "--days", "10")
        assert "--days: 20 days are longer than the CA lasts" in refused(
            "cert", "admin", "--days", "20", "--out", "o"
        )
        assert not (tmp_path / "o").exists()
        made("cert", "admin")
        assert re.search(r"\((9|10) days left\)", made("cert", "show", "admin.pem"))
