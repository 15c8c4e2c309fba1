"""Modules import one way, in the order that ARCHITECTURE.md lists them."""

import ast
import re
import subprocess
from pathlib import Path

import ginsim
from ginsim.jit import COMPILED, ENGINE

PACKAGE = Path(ginsim.__file__).parent
ARCHITECTURE = PACKAGE.parent / "ARCHITECTURE.md"


def listed_modules() -> list[str]:
    """Names in the code block of ARCHITECTURE.md, from the lowest layer up."""
    block = re.search(r"```\n(.*?)```", ARCHITECTURE.read_text(), re.DOTALL)
    assert block
    return [line.split()[0] for line in block[1].splitlines() if line.strip()]


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(path: Path) -> set[str]:
    """Modules of the package that *path* imports anywhere, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: write absolute imports"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("ginsim.") for name in names if name.startswith("ginsim.")}


def sources() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if module_name(path)]


def test_every_module_is_listed_and_every_listed_module_exists():
    assert sorted(map(module_name, sources())) == sorted(listed_modules())


def test_no_module_imports_one_above_it():
    order = {name: at for at, name in enumerate(listed_modules())}
    upward = [
        (module_name(path), name)
        for path in sources()
        for name in imported(path)
        if name in order and order[name] > order[module_name(path)]
    ]
    assert upward == []


def test_the_kernel_cache_is_named_by_all_that_kernels_are_made_of():
    """Else an edit would leave old machine code in use."""
    holds = [path for path in sources() if re.search(r"^@kernel", path.read_text(), re.MULTILINE)]
    needed = {module_name(path) for path in holds}
    assert {"engine", "tally", "bots.levels"} <= needed
    while (
        more := {
            name
            for path in sources()
            if module_name(path) in needed
            for name in imported(path) & set(listed_modules())
        }
        - needed
    ):
        needed |= more
    assert {name.partition(".")[0] for name in needed} <= set(COMPILED)
    assert set(ENGINE) <= set(COMPILED)


def test_the_package_itself_imports_nothing_heavy():
    assert imported(PACKAGE / "__init__.py") == set()


def test_uint64_stays_in_rng():
    users = [p.name for p in sources() if re.search(r"np\.uint64|types\.uint64", p.read_text())]
    assert users == ["rng.py"]


def test_nothing_names_a_path_of_some_machine():
    root = PACKAGE.parent
    kinds = (".py", ".md", ".toml", ".txt")
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    texts = [root / name for name in tracked if name.endswith(kinds) or name == "Makefile"]
    assert len(texts) > 50
    # Assembled, so that this file does not name them either.
    forbidden = [
        "/" + "work/",
        "/" + "root/",
        "/" + "home/",
        "https://" + "pypi",
        "files.python" + "hosted",
    ]
    for path in texts:
        assert not [word for word in forbidden if word in path.read_text()], path
