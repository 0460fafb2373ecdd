"""The house: imports run one way, those inside functions too, and every rule of the layout holds in every file.

A room is a module on the top level or a folder. `pytest -s tests/test_layers.py` prints how many there are.
"""

import ast
import re
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path

from sources import nodes, tree

import sqlmicro

PACKAGE = Path(sqlmicro.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "contracts" not in path.parts)
"""What runs in the program; the contracts are tests."""
FLOORS = [
    {"errors", "system", "verify"},
    {"options"},
    {"registry"},
    {"database"},
    {"identifiers", "erasure"},
    {"work"},
    {"missing"},
    {"guarantees"},
    {"audits", "attacks", "group", "mask", "safe_method"},
    {"pipeline", "scopes"},
    {"history"},
    {"publish"},
    {"reports"},
    {"jobs"},
    {"spark"},
    {"verbs"},
    {"api"},
    {"session", "help"},
    {"cli"},
    {"__init__", "__main__"},
]
"""From the ground up: a room imports from its own floor and those below."""
FLOOR = {name: number for number, names in enumerate(FLOORS) for name in names}
FACES = {"__init__", "__main__"}
"""They hand names on, late and in both directions."""
HEAVY = {"numpy", "duckdb", "pyarrow", "jinja2", "numba", "scipy", "sklearn", "highspy", "pyspark", "sqlglot", "rich"}


@cache
def imports(path):
    """Return the imports of a file: (module, line, inside a function, for type checkers only)."""
    found = []
    calls = "late(" in path.read_text(encoding="utf-8")

    def visit(node, late, typing):
        late = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        typing = typing or (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            parts = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [part if is_module(part) else node.module for part in parts]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "late":
            names, late = [node.args[0].value], False  # the one function that loads modules of ours late
        found.extend((name, node.lineno, late, typing) for name in names)
        for child in ast.iter_child_nodes(node):
            if calls or not isinstance(child, ast.expr):  # no expression imports, but for one that calls `late`
                visit(child, late, typing)

    visit(tree(path), False, False)
    return found


@cache
def is_module(name):
    place = PACKAGE.parent.joinpath(*name.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def own(name):
    return name.split(".")[0] == "sqlmicro"


def module_of(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def edges(path):
    """Return the imports of own modules, those for type checkers too."""
    return [(name, line) for name, line, _, _ in imports(path) if own(name)]


def test_imports_run_one_way():
    rooms, arrows, upward = set(), set(), []
    for path in MODULES:
        here = room(module_of(path))
        rooms.add(here)
        assert here in FLOOR, f"{here} has no floor"
        for name, line in edges(path):
            there = room(name)
            if there != here:
                arrows.add((here, there))
                if here not in FACES and FLOOR[there] > FLOOR[here]:
                    upward.append(f"{path.relative_to(PACKAGE)}:{line} imports {name}")
    print(f"{len(rooms)} rooms, {len(arrows)} arrows, {len(upward)} upward")
    assert not upward
    assert len(rooms) <= 30


FIELDS = {"work.Work": 6, "work.Outcome": 3, "work.Claim": 3, "pipeline.Run": 8}
"""How many fields the objects have that every release passes through. They may become fewer."""
OF_SCOPES = {"group/class_size.py", "mask/nights.py", "safe_method/candidates.py", "safe_method/continued.py"}
"""What knows of levels and nights, as it is a part of a scope, or reports of one."""


def test_what_every_release_passes_through_has_few_fields():
    """What serves one capability belongs into an object of it, or into a scope."""
    found = {}
    for name in FIELDS:
        module, of = name.split(".")
        kept = getattr(import_module(f"sqlmicro.{module}"), of)
        found[name] = len(fields(kept))
    assert found == FIELDS


def test_methods_know_no_scope():
    """Whose records are grouped, and what was released before, stands around a method."""
    told, state = ("sqlmicro.database.levels", "sqlmicro.database.carried"), ("draws.nights", "units.level")
    wrong = []
    for path in MODULES:
        here = path.relative_to(PACKAGE).as_posix()
        if here.split("/")[0] in ("group", "mask", "safe_method") and here not in OF_SCOPES:
            wrong += [f"{here} imports {name}" for name, _ in edges(path) if name in told]
            text = path.read_text(encoding="utf-8")
            wrong += [f"{here} reads {one}" for one in state if one in text]
    assert not wrong


def test_methods_restate_no_claim():
    """What a step promises its plan knows, from what its method assures of the settings."""
    wrong = []
    for path in MODULES:
        here = path.relative_to(PACKAGE).as_posix()
        if here.split("/")[0] in ("group", "mask", "safe_method"):
            wrong += [here for node in nodes(path) if isinstance(node, ast.Name) and node.id in ("Claim", "Terms")]
    assert not wrong


def test_no_files_import_each_other():
    graph = {module_of(path): {name for name, _ in edges(path)} for path in MODULES if path.stem not in FACES}
    reach = {}

    def reached(module):
        if module not in reach:
            seen, todo = set(), [module]
            while todo:
                for name in graph.get(todo.pop(), ()):
                    if name in graph and name not in seen:
                        seen.add(name)
                        todo.append(name)
            reach[module] = seen
        return reach[module]

    assert not [module for module in graph if module in reached(module)]


def test_modules_of_ours_are_imported_at_the_head_of_a_file():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in MODULES if path.stem not in FACES
        for name, line, late, _ in imports(path) if late and own(name)
    ]  # fmt: skip
    assert not wrong, "load it late through registry.late, and only what is compiled or needs an extra"


def test_no_room_takes_what_is_private_to_another():
    """Compiled loops are called _…_kernels, wherever they are run from."""
    wrong = []
    for path in MODULES:
        here = room(module_of(path))
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and own(node.module or ""):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "late":
                names = [
                    f"{node.args[0].value}.{name.value}" for name in node.args[1:] if isinstance(name, ast.Constant)
                ]
            else:
                continue
            private = re.compile(r"_(?!_|\w+_kernels$)")
            wrong += [
                f"{path.relative_to(PACKAGE)}:{node.lineno} {name}"
                for name in names if room(name) != here and any(private.match(part) for part in name.split("."))
            ]  # fmt: skip
    assert not wrong


def test_heavy_libraries_are_imported_where_they_are_used():
    for path in MODULES:
        heavy = {name.split(".")[0] for name, _, late, typing in imports(path) if not (late or typing)} & HEAVY
        loaded_late = path.name in ("code_files.py", "linked.py", "numba_code.py", "shipped.py")
        if loaded_late or path.name.endswith("_kernels.py"):
            heavy -= {"numba", "numpy"}
        if path.name == "template_cache.py":
            heavy -= {"jinja2"}
        if path.name == "verify.py":  # loaded late too; who audits it reads its imports at its head
            heavy -= {"pyarrow"}
        assert not heavy, path


def test_kernels_are_imported_where_they_run():
    for path in MODULES:
        if not path.name.endswith("_kernels.py"):
            head = ast.Module([node for node in tree(path).body if isinstance(node, ast.ImportFrom)], [])
            names = {node.module for node in ast.walk(head) if isinstance(node, ast.ImportFrom)}
            assert not [name for name in names if name and name.endswith("_kernels")], path


def test_kernels_know_kernels_alone():
    """Compiled code is kept until a kernel changes (`system/code_files.py`): what it has of others would stay."""
    for path in sorted(PACKAGE.rglob("*_kernels.py")):
        own = [name for name, _, _, typing in imports(path) if name.startswith("sqlmicro") and not typing]
        assert all(name.endswith("_kernels") or name == "sqlmicro.system.compiled" for name in own), (path, own)


def test_only_the_warehouse_knows_the_database():
    allowed = {"duckdb_warehouse.py", "opening.py", "built_ins.py"}
    for path in MODULES:
        if path.name not in allowed:
            assert "duckdb" not in {name.split(".")[0] for name, _, _, typing in imports(path) if not typing}, path


def test_engines_are_named_where_they_are_opened():
    """All others ask a `Warehouse`, or the `Database` that it has."""
    named = {path.relative_to(PACKAGE).as_posix() for path in MODULES if "DuckDBWarehouse" in path.read_text("utf-8")}
    assert named == {"database/duckdb_warehouse.py", "database/opening.py", "spark/warehouse.py"}


def test_no_statement_is_put_together_with_an_f_string():
    verbs = ("SELECT ", "INSERT ", "DELETE ", "UPDATE ", "CREATE ", "DROP ", "ALTER ", "COPY ", "ATTACH ")
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
                assert not text.lstrip().startswith(verbs), f"{path.name}:{node.lineno}"


def test_only_the_command_line_prints_or_exits():
    for path in MODULES:
        calls = {n.func.id for n in nodes(path) if isinstance(n, ast.Call) and hasattr(n.func, "id")}
        if path.name not in ("cli.py", "__main__.py", "verify.py"):  # a command line that stands alone
            assert not calls & {"print", "exit"}, path.name


def test_every_folder_says_what_lives_there():
    for path in PACKAGE.rglob("__init__.py"):
        said = ast.get_docstring(tree(path))
        assert said and len(said) > 20, path


def test_every_folder_says_what_it_may_import():
    for path in PACKAGE.glob("*/__init__.py"):
        here = path.parent.name
        if here == "contracts":
            continue
        sentence = (ast.get_docstring(tree(path)).split("\n\n")[0].replace("\n", " ")).partition("May import ")[2]
        said = {FLOOR[name] for name in re.findall(r"`(\w+)`", sentence)}
        used = {FLOOR[room(name)] for other in path.parent.rglob("*.py") for name, _ in edges(other)} - {FLOOR[here]}
        assert said and max(used, default=0) <= max(said) <= FLOOR[here], f"{here}/__init__.py: {sentence}"


MOST_LINES, MOST_LINES_OF_A_FUNCTION = 800, 60


def test_files_and_functions_are_short():
    """Of a function without its docstring."""
    long = []
    for path in MODULES:
        name = path.relative_to(PACKAGE).as_posix()
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES:
            long.append(f"{name} has {lines} lines")
        for node in nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                said = node.body[0] if ast.get_docstring(node) else None
                lines = node.end_lineno - node.lineno + 1 - (said.end_lineno - said.lineno + 1 if said else 0)
                if lines > MOST_LINES_OF_A_FUNCTION:
                    long.append(f"{name}:{node.lineno} {node.name} has {lines} lines")
    assert not long


MOST_REFUSALS = 92
"""Functions that refuse: 92 as the package stands. It is lowered, never raised."""


def test_what_does_not_go_together_is_a_need():
    """It is yielded as an `errors.Need`, and refused by `errors.demand`: a function that refuses is about values."""
    refusing = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in MODULES for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith("refuse")
    ]  # fmt: skip
    assert len(refusing) <= MOST_REFUSALS, refusing


MOST_FILES, MOST_ARROWS, MOST_WITH_ONE_IMPORTER = 459, 2945, 74
"""Of the package as it stands: they are lowered, never raised. A file is a thought, not a share of its lines."""


def test_files_are_few_and_so_are_the_imports_between_them():
    """An arrow is a file that imports another one; what one file of its own folder alone imports belongs into it."""
    arrows = {(module_of(path), name) for path in MODULES for name, _ in edges(path) if is_module(name)}
    by = {}
    for importer, name in arrows:
        by.setdefault(name, set()).add(importer)
    alone = [name for name, (importer, *others) in by.items() if not others and folder(importer) == folder(name)]
    print(f"{len(MODULES)} files, {len(arrows)} arrows, {len(alone)} with one importer, in their own folder")
    assert len(MODULES) <= MOST_FILES
    assert len(arrows) <= MOST_ARROWS
    assert len(alone) <= MOST_WITH_ONE_IMPORTER


def folder(module):
    return module.rpartition(".")[0]


MOST_FIELDS = {("work", "Claim"): 3, ("publish/report", "ReleaseReport"): 0}
"""Of a class itself; those of the parts of a report are bases, each with at most so many:"""
MOST_FIELDS_OF_A_PART = 15


def fields_of(file, name):
    """Return how many fields a class has, without those of its bases, and these."""
    (node,) = (n for n in nodes(PACKAGE / f"{file}.py") if isinstance(n, ast.ClassDef) and n.name == name)
    return sum(isinstance(one, ast.AnnAssign) for one in node.body), [base.id for base in node.bases]


def test_what_is_claimed_and_what_is_reported_is_told_in_parts():
    for (file, name), most in MOST_FIELDS.items():
        found, bases = fields_of(file, name)
        assert found <= most, f"{name} has {found} fields"
        assert all(fields_of(file, base)[0] <= MOST_FIELDS_OF_A_PART for base in bases), name


def test_a_limit_is_declared_in_one_place():
    """Only what measures the number of values over many nights names a limit, and what reads a hierarchy of one."""
    named = {"min_l", "min_entropy_l", "min_recursive_l", "max_t", "max_alpha", "max_beta"}
    found = {
        (path.relative_to(PACKAGE).as_posix(), node.value)
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in named
    }
    declared = {name for file, name in found if file == "guarantees/limits.py"}
    elsewhere = {one for one in found if one[0] not in ("guarantees/limits.py", "verbs/warm_up.py")}
    assert declared == named
    assert elsewhere == {
        ("cli.py", "min_l"),  # shown without --help-all
        ("jobs/series.py", "min_l"), ("publish/consult.py", "min_l"),  # kept over all nights, counted over all releases
        ("reports/collecting.py", "max_t"),
    }  # fmt: skip
