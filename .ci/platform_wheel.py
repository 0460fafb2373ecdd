"""Make a wheel for this platform out of a plain one: the same files, and machine code for any of its processors.

python .ci/platform_wheel.py PLAIN.whl FOLDER [METHOD ...]

The Python that runs it must have what the wheel depends on, and there must be a C compiler. With methods, only what
these need is compiled. What is made depends on no version of Python or numba.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

COMPILE = """
import sys
import sqlmicro
from sqlmicro.verbs import warm_up
wanted = sys.argv[1:]
if wanted:
    calls = tuple(call for call in warm_up.all_calls() if call.verb in wanted)
    warm_up.all_calls = lambda: calls
sqlmicro.warm_up()
"""
LINK = """
from sqlmicro.system import linked, shipped
linked.link([*warm_up.kernels()], shipped.FOLDER)
"""


def main(plain: Path, folder: Path, methods: list[str]) -> Path:
    """Make the wheel, and return where it is."""
    name, version, *_ = plain.name.split("-")
    # An image that is made for wheels says which systems they are for.
    platform = os.environ.get("AUDITWHEEL_PLAT") or sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    with tempfile.TemporaryDirectory() as work:
        package, cache = Path(work, "wheel"), Path(work, "cache")
        with zipfile.ZipFile(plain) as wheel:
            wheel.extractall(package)
        shutil.rmtree(package / "sqlmicro" / "compiled", ignore_errors=True)  # what an earlier one has made
        env = os.environ | {
            "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache), "XDG_CONFIG_HOME": work,
            "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        for program in (COMPILE, COMPILE + LINK):  # of what was compiled before, only what Python calls is loaded
            subprocess.run([sys.executable, "-c", program, *methods], cwd=work, env=env, check=True)
        info = package / f"{name}-{version}.dist-info"
        lines = (info / "WHEEL").read_text().splitlines()
        tagged = (f"Tag: {tag}" if line.startswith("Tag:") else line for line in lines)
        (info / "WHEEL").write_text("\n".join(tagged) + "\n")
        return packed(package, info / "RECORD", folder / f"{name}-{version}-{tag}.whl")


def packed(package: Path, record: Path, wheel: Path) -> Path:
    """Pack a folder as a wheel, with a record of what is in it."""
    files = sorted(file for file in package.rglob("*") if file.is_file() and file != record)
    lines = []
    for file in files:
        content = file.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{file.relative_to(package)},sha256={digest},{len(content)}")
    record.write_text("\n".join([*lines, f"{record.relative_to(package)},,"]) + "\n")
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as made:
        for file in [*files, record]:
            entry = zipfile.ZipInfo(str(file.relative_to(package)), (2020, 2, 2, 0, 0, 0))
            made.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return wheel


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]))
