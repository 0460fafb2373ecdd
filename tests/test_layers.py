"""Imports run one way: cli → job → pipeline → {group, safe, audits, publish} → warehouse → templates → errors."""

import ast
from pathlib import Path

import pytest

import sqlmicro

PACKAGE = Path(sqlmicro.__file__).parent
LAYERS = [
    {"errors"},
    {"keys", "templates", "params", "progress", "standardise", "private", "interrupts", "database_errors", "held"},
    {"registry", "warehouse", "options"},
    {"columns"},
    {"attach", "postgres", "content"},
    {"source", "erasure"},
    {"work", "reports"},
    {"records"},
    {"attacks", "audits", "group", "mask", "safe_method"},
    {"pipeline"},
    {"targets", "manifest"},
    {"recording", "mysql"},
    {"publish", "preview"},
    {"steps"},
    {"job"},
    {"spark"},
    {"jobfile", "comparison"},
    {"jobs"},
    {"api"},
    {"session", "help", "completion"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
HEAVY = {"numpy", "duckdb", "pyarrow", "jinja2", "numba", "scipy", "sklearn"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path, *, only_at_import_time):
    """Yield the modules a file imports; those under TYPE_CHECKING never run."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            skipped.update(id(inner) for inner in ast.walk(node))
        if only_at_import_time and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            skipped.update(id(inner) for inner in ast.walk(node) if inner is not node)
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == "sqlmicro":
                yield from (f"sqlmicro.{alias.name}" for alias in node.names)


def layer(module):
    return module.split(".")[1] if module.startswith("sqlmicro.") else None


def name_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    own = name_of(path)
    if own in ("__init__", "__main__"):
        return
    assert own in RANK, f"{own} has no place in the order of layers"
    for module in imports(path, only_at_import_time=True):
        other = layer(module)
        if other and other != own:
            assert RANK[other] <= RANK[own], f"{path.name} imports {module}, which is above it"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_libraries_are_imported_where_they_are_used(path):
    heavy = {module.split(".")[0] for module in imports(path, only_at_import_time=True)} & HEAVY
    if path.name.endswith("_kernels.py"):  # compiled loops, themselves imported only inside functions
        heavy -= {"numba", "numpy"}
    assert not heavy


def test_kernels_are_imported_where_they_run():
    for path in MODULES:
        if not path.name.endswith("_kernels.py"):
            assert not [m for m in imports(path, only_at_import_time=True) if m.endswith("_kernels")], path.name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_warehouse_knows_the_database(path):
    if path.name != "warehouse.py":
        assert "duckdb" not in {module.split(".")[0] for module in imports(path, only_at_import_time=False)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_statement_is_put_together_with_an_f_string(path):
    verbs = ("SELECT ", "INSERT ", "DELETE ", "UPDATE ", "CREATE ", "DROP ", "ALTER ", "COPY ", "ATTACH ")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
            assert not text.lstrip().startswith(verbs), f"{path.name}:{node.lineno}"


def test_only_the_command_line_prints_or_exits():
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "id")}
        if path.name not in ("cli.py", "__main__.py"):
            assert not calls & {"print", "exit"}, path.name
