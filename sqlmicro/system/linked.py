"""Makes machine code of kernels that can be used without numba: one library, and a file that says what is in it.

numba keeps the code of a kernel with what Python would call it by, and with copies of all kernels that it calls. Here
the code of all is joined, what is there more than once is kept once, and each kernel gets an entry that takes the place
of its answer, of an error, and of its arguments, which lie behind one another (`shipped`). What is left of numba's
runtime is `runtime.c`. A C compiler, `cc` or what CC names, makes the library.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import types
from numba.core.registry import cpu_target
from numba.np.numpy_support import as_dtype

from sqlmicro.system.code_files import named_by
from sqlmicro.system.shipped import CONTENTS, LIBRARY, PACKAGE, Kind, slots

_RUNTIME = Path(__file__).with_name("runtime.c")


@dataclass(frozen=True)
class _Code:
    """The code of a kernel for arguments of some types."""

    kernel: str
    result: Any  # numba's

    @property
    def takes(self) -> list[Kind]:
        return [_kind(one) for one in self.result.signature.args]

    @property
    def gives(self) -> Kind | None:
        given = self.result.signature.return_type
        return None if given == types.none else _kind(given)


def link(kernels: Sequence[Any], folder: Path) -> None:
    """Write the library of all that was compiled of some kernels into a folder, for the processor that numba has."""
    codes = sorted(_codes(kernels), key=lambda code: (code.kernel, str(code.result.signature)))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        Path(work, "kernels.o").write_bytes(_object(codes))
        compiler = os.environ.get("CC", "cc")
        options = ["-shared", "-fPIC", "-O2", "-s", "-o", str((folder / LIBRARY).resolve())]
        subprocess.run([compiler, *options, "kernels.o", str(_RUNTIME), "-lm"], cwd=work, check=True)
    _hide_paths(folder / LIBRARY)
    entries: dict[str, list[Any]] = {}
    for number, code in enumerate(codes):
        entries.setdefault(code.kernel, []).append((number, code.takes, code.gives))
    modules = sorted({_module(kernel) for kernel in kernels})
    contents = {
        "library": _digest(folder / LIBRARY),
        "sources": {_name(one): {_name(file): _digest(file) for file in sorted(named_by(one))} for one in modules},
        "kernels": entries,
    }
    (folder / CONTENTS).write_text(json.dumps(contents, separators=(",", ":")), encoding="utf-8")


def _hide_paths(file: Path) -> None:
    """Write dots where errors name folders of this machine: as many, since lengths are written down beside texts."""
    content = file.read_bytes()
    for path in (str(PACKAGE.parent).encode(), str(Path(numba.__file__).parent.parent).encode()):
        content = content.replace(path, b"." * len(path))
    file.write_bytes(content)


def _codes(kernels: Iterable[Any]) -> Iterator[_Code]:
    for kernel in kernels:
        for result in kernel.overloads.values():
            yield _Code(f"{_name(_module(kernel))}:{kernel.__name__}", result)


def _module(kernel: Any) -> Path:
    return Path(kernel.py_func.__code__.co_filename).resolve()


def _name(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def _digest(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _kind(of: Any) -> Kind:
    """Return what a type of numba's is called in the file of contents."""
    if isinstance(of, types.Array) and of.mutable and of.aligned and of.layout in "CF":
        return ["array", as_dtype(of.dtype).str, of.ndim, of.layout]
    if isinstance(of, types.BaseTuple):
        parts: Any = of
        name = parts.instance_class.__name__ if isinstance(of, types.BaseNamedTuple) else "tuple"
        return ["tuple", name, [_kind(one) for one in parts]]
    names = {types.int64: "int", types.float64: "float", types.boolean: "bool"}
    if of in names:
        return names[of]
    if isinstance(of, types.NumPyRandomGeneratorType):
        return "generator"
    raise TypeError(f"there is no kind for {of}")


def _object(codes: list[_Code]) -> bytes:
    """Return the machine code of kernels and of their entries."""
    joined, declared, entries = llvm.parse_assembly(""), {}, []
    for number, code in enumerate(codes):
        name = code.result.fndesc.llvm_func_name
        module = llvm.parse_bitcode(code.result.library._get_module_for_linking().as_bitcode())
        function = module.get_function(name)
        function.linkage = "external"  # else it is left out, as nothing that was joined before calls it
        kinds = [_argument(one.type) for one in function.arguments][2:]
        joined.link_in(module)
        declared[name] = f'declare i32 @"{name}"(ptr, ptr{"".join(f", {kind}" for kind in kinds)})\n'
        entries.append(_entry(number, name, kinds, "".join(map(slots, code.takes))))
    joined.link_in(llvm.parse_assembly("".join([*declared.values(), *entries])))
    for one in (*joined.functions, *joined.global_variables):
        if not one.is_declaration and not one.name.startswith("entry_"):
            one.linkage = "internal"
    machine = _machine()
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(joined, llvm.create_pass_builder(machine, llvm.PipelineTuningOptions()))
    joined.data_layout, joined.triple = str(machine.target_data), llvm.get_process_triple()
    joined.verify()
    made: bytes = machine.emit_object(joined)
    return made


def _argument(kind: Any) -> str:
    text = str(kind)
    return "ptr" if text.endswith("*") else text


def _entry(number: int, name: str, kinds: list[str], expected: str) -> str:
    """Return a function that reads the arguments of another from memory, eight bytes each, and calls it."""
    given = len(struct.unpack(f"={expected}", bytes(struct.calcsize(f"={expected}"))))
    if given != len(kinds):
        raise TypeError(f"{name} takes {len(kinds)} numbers, {given} would be given")
    lines = [f"define i32 @entry_{number}(ptr %given, ptr %raised, ptr %arguments) {{"]
    for i, kind in enumerate(kinds):
        lines += [f"  %p{i} = getelementptr i64, ptr %arguments, i64 {i}", f"  %a{i} = load {kind}, ptr %p{i}"]
    passed = "".join(f", {kind} %a{i}" for i, kind in enumerate(kinds))
    lines += [f'  %status = call i32 @"{name}"(ptr %given, ptr %raised{passed})', "  ret i32 %status", "}\n"]
    return "\n".join(lines)


def _machine() -> Any:
    """Return what makes code for the processor that numba makes it for, and for any place in memory."""
    own: Any = cpu_target.target_context.codegen()
    config: Any = numba.config
    processor = config.CPU_NAME or own._get_host_cpu_name()
    features = own._get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu="" if processor == "generic" else processor, features=features, opt=3, reloc="pic", codemodel="default"
    )
