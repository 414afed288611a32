"""The shells' completion: made of the table of flags, it offers what each --help lists."""

import os
import re
import shutil
import subprocess

import pytest
from harness.node import find_program
from harness.packaging_files import BUILD, run

pytestmark = pytest.mark.beside

SUBCOMMANDS = re.findall(r"(?m)^  (\w+) +", run(find_program(), "--help").split("Subcommands:")[1])
FLAGS = {
    name: set(re.findall(r"(?m)^ +(?:-h,)?(--[\w-]+)", run(find_program(), name, "--help")))
    for name in SUBCOMMANDS
    if name not in ("help", "completion")
}


def bash(*words):
    """The words that bash offers for the last of these words."""
    script = run(find_program(), "completion", "bash")
    ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bullring; printf "%s\\n" "${COMPREPLY[@]}"'
    return set(run("bash", "-c", f"{script}\n{ask}", "bash", *words).split())


def test_the_subcommands_are_those_of_the_help():
    members = {"node", "run", "address", "lead"}
    expected = members | {"status", "watch", "resign", "audit", "key", "cert"}
    assert set(FLAGS) >= expected
    assert bash("bullring", "") >= {*SUBCOMMANDS, "--help", "--version"}


@pytest.mark.parametrize("name", FLAGS)
def test_bash_offers_each_flag_of_a_subcommand_and_no_other(name):
    assert len(FLAGS[name]) > 4
    assert bash("bullring", name, "--") - {"--"} == FLAGS[name]


def test_bash_offers_values():
    assert bash("bullring", "node", "--algorithm", "") == {"bully", "ring"}
    assert bash("bullring", "node", "--algorithm", "r") == {"ring"}
    assert bash("bullring", "run", "--on-exit", "") == {"stay", "vote", "leave"}
    assert bash("bullring", "node", "--log-level", "w") == {"warn"}
    assert bash("bullring", "node", "--lease", "") == set()
    assert "run" in bash("bullring", "help", "")
    assert bash("bullring", "completion", "") == {"bash", "zsh"}


def test_bash_offers_faults_one_after_the_other():
    faults = {"crash", "hang", "resign", "cut"}
    assert bash("bullring", "drill", "--faults", "") == faults
    assert bash("bullring", "drill", "--faults", "cr") == {"crash"}
    others = {f"crash,cut,{one}" for one in faults - {"crash", "cut"}}
    assert bash("bullring", "drill", "--faults", "crash,cut,") == others
    assert bash("bullring", "drill", "--faults", "crash,cr") == set()  # each of them once
    drill = [find_program(), "drill", "--peers", "1=127.0.0.1:1", "--faults", ",".join(faults)]
    assert "--faults" not in subprocess.run(drill, capture_output=True, text=True).stderr


def test_bash_offers_the_interfaces_of_this_machine():
    assert bash("bullring", "address", "--dev", "") == set(os.listdir("/sys/class/net"))
    assert bash("bullring", "address", "--dev", "l") >= {"lo"}


def test_bash_offers_files_directories_and_commands(tmp_path):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "node.toml").touch()
    start = f"{tmp_path}/no"
    assert bash("bullring", "node", "--config", start) == {f"{tmp_path}/nodes", f"{start}de.toml"}
    assert bash("bullring", "node", "--data-dir", start) == {f"{tmp_path}/nodes"}
    assert "true" in bash("bullring", "node", "--health-cmd", "tru")


def test_bash_offers_the_action_first_and_then_files(tmp_path):
    (tmp_path / "poller.key").touch()
    assert bash("bullring", "key", "") >= {"new", "list", "add", "use", "remove"}
    assert bash("bullring", "cert", "o") == {"observer"}
    assert bash("bullring", "key", "list", f"{tmp_path}/po") == {f"{tmp_path}/poller.key"}
    assert bash("bullring", "status", f"{tmp_path}/po") == set()


def test_bash_leaves_what_follows_the_dashes_to_another_command():
    offered = bash("bullring", "run", "--id", "1", "--", "tru")
    assert "true" in offered
    assert not {word for word in offered if word.startswith("--")}


def test_bash_completion_finds_it_where_it_is_installed(tmp_path):
    library = "/usr/share/bash-completion/bash_completion"
    run("cmake", "--install", BUILD, "--component", "service", "--prefix", tmp_path)
    file = tmp_path / "share" / "bash-completion" / "completions" / "bullring"
    ask = 'COMP_WORDS=(bullring run -- env --unse); COMP_CWORD=4; COMP_LINE="${COMP_WORDS[*]}"'
    ask += '; COMP_POINT=${#COMP_LINE}; _bullring; printf "%s\\n" "${COMPREPLY[@]}"'
    out = run("bash", "-c", f"set +u; . {library}; . {file}; {ask}")
    assert "--unset" in out


def zsh(*words):
    """The specifications that zsh's own functions are given for these words."""
    script = run(find_program(), "completion", "zsh")
    stubs = "".join(
        f'{name}() {{ print -l -- "{name}" "$@" $words }}\n'
        for name in ("_arguments", "_normal", "_values")
    )
    stubs += "_describe() { print -l -- ${(P)2} }\ncompdef() { }\n"
    ask = 'words=("$@"); CURRENT=$#; _bullring'
    return run("zsh", "-f", "-c", f"{stubs}{script}\n{ask}", "zsh", *words).splitlines()


def typed(folder, keys):
    """The line of zsh after these keys were pressed, in a terminal of its own."""
    script = f"""
    zmodload zsh/zpty
    zpty it zsh -f -i
    zpty -w it 'PS1=; fpath=({folder} $fpath)'
    zpty -w it "autoload -U compinit; compinit -D -u; print rea''dy"
    zpty -r it seen '*ready*'
    zpty -w -n it $'{keys}'
    zpty -w -n it $'\\C-a: \\C-e; print do""ne\\n'
    zpty -r it seen $'*\\ndone*'
    print -r -- $seen
    """
    return run("zsh", "-f", "-c", script, timeout=60)


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
class TestZsh:
    def test_the_script_is_sound(self, tmp_path):
        file = tmp_path / "_bullring"
        file.write_text(run(find_program(), "completion", "zsh"))
        assert file.read_text().startswith("#compdef bullring\n")
        run("zsh", "-n", file)

    def test_the_subcommands(self):
        offered = {line.split(":")[0] for line in zsh("bullring", "")}
        assert offered == set(SUBCOMMANDS)

    @pytest.mark.parametrize("name", FLAGS)
    def test_each_flag_of_a_subcommand_and_no_other(self, name):
        function, *specs = zsh("bullring", name, "--")
        assert function == "_arguments"
        offered = {re.match(r"--[\w-]+", spec)[0] for spec in specs if re.match(r"--\w", spec)}
        assert offered == FLAGS[name]

    def test_zsh_itself_takes_the_specifications(self, tmp_path):
        """In a terminal of its own: Tab, and what stands on the line then."""
        (tmp_path / "_bullring").write_text(run(find_program(), "completion", "zsh"))
        seen = typed(tmp_path, r"bullring node --algorithm ri\t--bootstrap-w\t")
        assert "--algorithm ring" in seen
        assert "--bootstrap-wait" in seen

    def test_zsh_itself_offers_faults_and_interfaces(self, tmp_path):
        (tmp_path / "_bullring").write_text(run(find_program(), "completion", "zsh"))
        seen = typed(tmp_path, r"bullring drill --faults cr\t\b,ha\t")
        assert "--faults crash,hang" in seen
        (single,) = {"lo"} & set(os.listdir("/sys/class/net"))
        assert f"--dev {single}" in typed(tmp_path, rf"bullring address --dev {single[0]}\t")

    def test_what_follows_the_dashes_is_another_command(self):
        assert zsh("bullring", "run", "--id", "1", "--", "env", "-") == ["_normal", "env", "-"]


def test_another_shell_is_refused():
    for words in (["fish"], [], ["bash", "zsh"]):
        done = subprocess.run(
            [find_program(), "completion", *words], capture_output=True, text=True
        )
        assert done.returncode == 2
        assert done.stderr == (
            f'bullring: completion for "{" ".join(words)}"; expected bash or zsh\n'
        )
