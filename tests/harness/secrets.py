"""Keys, and certificates of a small CA, for tests and benches. The certificates need openssl(1)."""

import base64
import hashlib
import os
import pathlib
import subprocess

LEAF_DAYS = 30


def key_line(key=None):
    """One line of a key file."""
    letters = base64.urlsafe_b64encode(key or os.urandom(32)).rstrip(b"=").decode()
    return f"bullring-key-v1:{letters}\n"


def key_of(line):
    """The key that such a line holds."""
    letters = line.strip().partition(":")[2]
    return base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))


def key_id(line):
    """The name of a key on the wire, and in `bullring key list`."""
    return hashlib.sha256(key_of(line)).hexdigest()[:8]


def write_private(path, text):
    """Puts it in the place of what is there, at once; nobody else can read it."""
    path = pathlib.Path(path)
    beside = path.with_name(path.name + ".new")
    beside.touch(0o600)
    beside.write_text(text)
    beside.rename(path)
    return path


def key_environment(path):
    return {"BULLRING_SECURITY": "key", "BULLRING_KEY_FILE": str(path)}


class Authority:
    """A CA in a directory, and what it has signed."""

    def __init__(self, directory, cluster="bullring", name="ca"):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.cluster = cluster
        self.certificate = self.directory / f"{name}.crt"
        self._key = self.directory / f"{name}.key"
        self._openssl(
            *["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
            *[
                "-keyout",
                self._key,
                "-out",
                self.certificate,
                "-subj",
                f"/CN={name}",
                "-days",
                "90",
            ],
        )

    def _openssl(self, *words, **options):
        return subprocess.run(
            ["openssl", *map(str, words)], check=True, capture_output=True, **options
        )

    def issue(self, who, uses="clientAuth,serverAuth", days=LEAF_DAYS, name=None):
        """Signs for `who`: "node/1", "admin", "observer". The files of certificate and key."""
        base = self.directory / (name or who.replace("/", "-"))
        key, request, certificate = (base.with_suffix(end) for end in (".key", ".csr", ".crt"))
        self._openssl(
            *["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"],
            *["-keyout", key, "-out", request, "-subj", "/CN=nobody"],
        )
        extensions = base.with_suffix(".ext")
        extensions.write_text(
            f"subjectAltName=URI:bullring://{self.cluster}/{who}\nextendedKeyUsage={uses}\n"
        )
        fresh = base.with_suffix(".fresh")
        self._openssl(
            *["x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key],
            *["-CAcreateserial", "-days", days, "-extfile", extensions, "-out", fresh],
        )
        fresh.rename(certificate)
        key.chmod(0o600)
        return certificate, key

    def revoke(self, *certificates):
        """A list of all that has been revoked so far."""
        database = self.directory / "index.txt"
        database.touch()
        number = self.directory / "number"
        if not number.exists():
            number.write_text("01\n")
        config = self.directory / "ca.cnf"
        config.write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndatabase={database}\ndefault_md=sha256\n"
            f"default_crl_days=30\ncrlnumber={number}\n"
        )
        signer = ["-config", config, "-cert", self.certificate, "-keyfile", self._key]
        for certificate in certificates:
            self._openssl("ca", *signer, "-revoke", certificate)
        crl = self.directory / "ca.crl"
        fresh = self.directory / "ca.crl.fresh"
        self._openssl("ca", *signer, "-gencrl", "-out", fresh)
        fresh.rename(crl)
        return crl

    def flags(self, who, crl=None, **options):
        """As flags of a command."""
        certificate, key = self.issue(who, **options)
        named = ["--security", "tls", "--tls-cert", certificate, "--tls-key", key]
        named += ["--tls-ca", self.certificate, *(["--tls-crl", crl] if crl else [])]
        return [str(word) for word in named]
