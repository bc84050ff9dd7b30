"""What the README says is so: its commands parse, its SQL runs, its paths are there."""

import importlib
import re
import shlex
import subprocess
from pathlib import Path

import click
import duckdb
import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
OURS = {"lake": "warehouse.cli", "pytrain": "pytrain.cli", "pyeval": "pyeval.cli"}
OTHERS = {"make", "dbt", "git", "cd", "pip", "python", "python3", "torchrun"}
ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")
MADE = ("warehouse/lake", "runs")  # what commands make, in no fresh clone


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def inline() -> list[str]:
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", README, flags=re.DOTALL))


def commands() -> list[str]:
    """Each command of a shell block, and each named in the text, without its variables."""
    lines = [line for block in blocks("(?:bash|sh)") for line in block.splitlines()]
    lines += [code for code in inline() if code.split()[0] in {*OURS, "make", "dbt"}]
    found = []
    for line in lines:
        words: list[str] = []
        for word in [*shlex.split(line.replace("<", "").replace(">", ""), comments=True), "&&"]:
            if word in ("&&", "|", ";"):
                found.append(shlex.join(words))
                words = []
            elif words or not ASSIGNMENT.fullmatch(word):
                words.append(word)
    return [command for command in dict.fromkeys(found) if command]


def check(words: list[str]) -> None:
    """Raise unless a command of ours has this subcommand, these options and arguments."""
    command, rest = importlib.import_module(OURS[words[0]]).cli, words[1:]
    if not rest or rest == ["--help"]:
        return
    name = rest[0]
    command = command.commands[name]
    complete = len(rest) > 1 or not any(one.required for one in command.params)
    context = click.Context(command, info_name=name)
    if complete:  # `pyeval run` alone only names the command
        command.parse_args(context, rest[1:])


def test_the_readme_names_commands_of_all_three_packages():
    first = {command.split()[0] for command in commands()}
    assert first >= {*OURS, "make"}


@pytest.mark.parametrize("command", [c for c in commands() if c.split()[0] in OURS])
def test_a_command_and_its_options_exist(command):
    check(shlex.split(command))


@pytest.mark.parametrize("command", [c for c in commands() if c.split()[0] not in OURS])
def test_any_other_command_is_one_we_know(command):
    words = shlex.split(command)
    assert words[0] in OTHERS
    if words[0] == "make":
        assert {word for word in words[1:] if "=" not in word} <= targets()


def test_a_command_that_is_not_there_fails_the_check():
    for wrong in ("lake biuld", "pytrain all", "pyeval run sample --no-such-option"):
        with pytest.raises((KeyError, click.UsageError)):
            check([*shlex.split(wrong), *(["--seed", "1"] if wrong == "pytrain all" else [])])


def test_settings_that_the_text_changes_exist():
    from pytrain.config import load_settings

    pairs = re.findall(r"--set ([a-z0-9_.]+=[^\s`]+)", README)
    assert pairs
    for pair in pairs:
        load_settings("sample", [pair])


def statements() -> list[str]:
    sql = "\n".join(re.sub(r"--.*", "", line) for b in blocks("sql") for line in b.splitlines())
    return [" ".join(one.split()) for one in sql.split(";") if one.strip()]


@pytest.mark.parametrize("statement", statements())
def test_a_statement_runs_on_the_sample_lake(sample_lake, statement):
    with duckdb.connect(str(sample_lake / "lake.duckdb"), read_only=True) as lake:
        first = lake.sql(statement).limit(5)
        # A lake has no runs until something is trained: tests/test_run_views.py has rows of them.
        assert first.columns if "from runs." in statement else first.fetchall()


def paths() -> list[str]:
    """Targets of links, and code in the text that starts with a name at the root."""
    here = {path.name for path in ROOT.iterdir()}
    found = [target for target in re.findall(r"\]\(([^)#\s]+)", README) if ":" not in target]
    for code in inline():
        if re.fullmatch(r"[\w./-]+", code) and code.split("/")[0] in here:
            found.append(code)
    return [path for path in dict.fromkeys(found) if not path.startswith(MADE)]


@pytest.mark.parametrize("path", paths())
def test_a_path_is_there(path):
    assert (ROOT / path).exists()
    if (ROOT / path).is_dir():
        assert any((ROOT / path).iterdir()), "a folder without a file is in no clone"


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


@pytest.mark.parametrize(
    "target", ["help", "install", "demo", "test", "test-real", "lint", "docs", "bench", "clean"]
)
def test_a_make_target_parses(target, monkeypatch):
    monkeypatch.setenv("DATA_ROOT", "somewhere")
    assert target in targets()
    done = subprocess.run(
        ["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_every_module_that_make_runs_is_there():
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    for module in re.findall(r"bin/python -m ([\w.]+)|\)/python -m ([\w.]+)", recipes):
        place = ROOT / "".join(module).replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file()


def test_real_tests_say_what_they_need(monkeypatch):
    monkeypatch.delenv("DATA_ROOT", raising=False)
    done = subprocess.run(
        ["make", "-o", ".venv/installed-dev", "test-real"], cwd=ROOT, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "make test-real DATA_ROOT=" in done.stderr
