"""Check a release against its certificate: `python -m sqlmicro.verify RELEASE CERTIFICATE --signers FILE`.

This file stands alone: it needs Python, pyarrow and ssh-keygen of OpenSSH. The exit code is 0 for verified, 1 for not,
2 where the input cannot be read. Names of columns are printed, but no value. Three things are checked.

1. **Who says so.** CERTIFICATE.sig is an SSH signature of the certificate in the namespace sqlmicro-release. FILE lists
   whose keys are known (`man ssh-keygen`). Whoever else signed, or nobody, verifies nothing but with --any-signer.
2. **About what.** A file is known by the SHA-256 of its bytes, a table by its content, here of an export: by that of
   its columns ([[name, Arrow type], …] in JSON), a line feed, and the sorted SHA-256 of its rows. A row is its cells as
   `length:bytes`, NULL as `N`: the text, the number in decimal digits, true or false; of a float its bits as a signed
   whole number, so that -0.0 is not 0.0 and no NaN another; of dates and times the days or units since 1970.
3. **What holds.** k over all columns but those named as not counted, and other k, l and t (within the release) are
   counted anew, and must be as certified. Values are the same if these bytes are, in CSV if their text is. NULL is one;
   in a sensitive column all zeros are one, and all NaN. What nobody can recount is `attested`: whoever signed says it.
"""

import argparse
import hashlib
import importlib
import json
import os
import re
import stat
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow._compute import call_function as call  # pyarrow.compute makes 300 wrappers of it, in as long as all else

FORMAT, VERSION, NAMESPACE, ORDER = "sqlmicro-release-certificate", 1, "sqlmicro-release", ". Give RELEASE first"
quoted = json.JSONEncoder(ensure_ascii=False).encode  # so that no name can be taken for several, or for words of ours


class RefusedError(Exception):
    """Why a release is not verified; with a 2, why it or its certificate cannot be read."""


def certificate(text: str) -> Any:
    """Return what a certificate says; it has every key once."""
    told = json.loads(text, parse_constant=str, object_pairs_hook=lambda p: dict(p) if len(dict(p)) == len(p) else None)
    if (told["format"], told["version"]) != (FORMAT, VERSION):
        raise RefusedError(f"the certificate must be one of version {VERSION} of {FORMAT}", 2)
    return told


def signer(data: bytes, signature: Path, signers: Path | None, any_signer: bool) -> str:
    """Return who has signed some bytes; refuse nobody, and somebody who is not known."""

    def keygen(what: str, *more: str | Path) -> str:
        words = ["ssh-keygen", "-Y", what, "-n", NAMESPACE, "-s", signature.absolute(), *more]
        done = subprocess.run(words, input=data, capture_output=True, timeout=60)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    regular(signature).close()
    key = re.search(r"\bSHA256:[A-Za-z0-9+/]{43}", keygen("check-novalidate"))
    if key is None:
        raise RefusedError("the signature is not one of this certificate")
    if signers is None:
        if not any_signer:
            raise RefusedError(f"who signed is only known as the key with fingerprint {key[0]}. Give --signers FILE")
        return f"somebody with the key {key[0]}"
    regular(signers).close()
    for name in filter(None, re.split("[,\n]", keygen("find-principals", "-f", signers.absolute()))):
        if keygen("verify", "-f", signers.absolute(), "-I", name):
            return f"{name}, with the key {key[0]}"
    raise RefusedError(f"the key with fingerprint {key[0]} is not that of an allowed signer")


def regular(path: Path) -> Any:
    """Open what is a file itself, no link and no device."""
    file = os.fdopen(os.open(path, sum(getattr(os, f"O_{n}", 0) for n in ("NOFOLLOW", "NONBLOCK", "BINARY"))), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise RefusedError(f"{path.name} must be a file", 2)
    return file


def batches(path: Path) -> Iterator[Any]:
    """Yield the records of a file as Arrow record batches."""
    from pyarrow import csv

    packed = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    kind = path.with_suffix("").suffix if packed else path.suffix
    files = [pa.CompressedInputStream(regular(path), packed) if packed else regular(path) for _ in range(2)]
    if kind == ".parquet":
        yield from importlib.import_module("pyarrow.parquet").ParquetFile(files[0]).iter_batches(1 << 16)
    elif kind == ".arrow":
        yield from pa.ipc.open_file(files[0]).read_all().to_batches()
    elif kind == ".csv":
        quoted, large = csv.ParseOptions(newlines_in_values=True), csv.ReadOptions(block_size=1 << 24)
        names = csv.open_csv(files[0], large, quoted).schema.names
        as_text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[""],
                                     strings_can_be_null=True, quoted_strings_can_be_null=False)  # fmt: skip
        yield from csv.open_csv(files[1], large, quoted, as_text)
    else:
        raise RefusedError("a release must be a .parquet, .arrow, .csv, .csv.gz or .csv.zst file", 2)


def plain(column: Any, by_value: bool = False) -> Any:
    """Return a column in a form in which values are the same if their bytes are; by value, zeros are, and NaN."""
    if pa.types.is_dictionary(column.type) or isinstance(column, pa.ExtensionArray):
        return plain(column.storage if isinstance(column, pa.ExtensionArray) else column.dictionary_decode(), by_value)
    if pa.types.is_nested(column.type) or "interval" in str(column.type):
        raise RefusedError("columns of lists, structures and intervals cannot be recounted", 2)
    if by_value and pa.types.is_floating(column.type):
        return call("if_else", [call("is_nan", [column]), float("nan"), call("add", [column.cast("float64"), 0.0])])
    return column.view(f"int{column.type.bit_width}") if pa.types.is_floating(column.type) else column


def content(records: Iterable[Any]) -> str:
    """Return the SHA-256 of the content of a table, as it is defined above."""
    rows, kinds, join = list[bytes](), "", "binary_join_element_wise"
    for batch in records:
        cells, kinds = [], json.dumps([[field.name, str(field.type)] for field in batch.schema])
        for column in map(plain, batch.columns):
            found = column.view(f"int{column.type.bit_width}") if pa.types.is_temporal(column.type) else column
            text = (found if pa.types.is_binary(found.type) else found.cast("string")).cast("binary")
            length = call("binary_length", [text]).cast("string").cast("binary")
            cells.append(call("coalesce", [call(join, [length, text, b":"]), b"N"]))
        rows += (hashlib.sha256(row).digest() for row in call(join, [*cells, b""]).to_pylist())
    return hashlib.sha256(kinds.encode() + b"\n" + b"".join(sorted(rows))).hexdigest()


def integer(number: int) -> Any:
    """Return a number as Arrow has it, without pandas, which pyarrow.scalar loads where it is installed."""
    return pa.Array.from_buffers(pa.int64(), 1, [None, pa.py_buffer(number.to_bytes(8, sys.byteorder))])[0]


def recount(records: Iterable[Any], claims: Sequence[Any], each: Any = map, own: Any = None) -> tuple[int, Any, Any]:
    """Return the number of records, their columns, and of every claim the value and the number of classes by size."""
    asked = [[(n, n == c["sensitive"]) for n in (*c["columns"], c["sensitive"]) if n is not None] for c in claims]
    rows, kinds, found, parts = 0, None, list[Any](), {key: list[Any]() for keys in asked for key in keys}
    for batch in records:
        rows, kinds = rows + len(batch), [[field.name, str(field.type)] for field in batch.schema]
        for (name, by_value), part in parts.items():
            kept = plain(batch.column(name), by_value)
            part.append(kept if pa.types.is_primitive(kept.type) else call("dictionary_encode", [kept]))
    read = {key: pa.chunked_array(part).unify_dictionaries() for key, part in parts.items() if rows}
    some = [*{key: 0 for keys in asked if keys[1:] or keys[0][1] for key in keys if rows}]
    whole = dict(zip(some, each(lambda key: call("dictionary_encode", [read[key]]), some), strict=True))
    size = {key: 1 + len(chunks.chunk(0).dictionary) for key, chunks in whole.items()}
    numbers = {key: pa.concat_arrays([one.indices for one in whole[key].chunks]) for key in whole}
    for one, keys in zip(claims, asked, strict=True):
        code, span = read[keys[0]] if rows and keys[0] not in whole else integer(0), 1  # a value alone is a class
        for key in [key for key in keys if key in whole]:  # the numbers of a record, NULL the last, are digits of one
            if span * size[key] >= 1 << 62:
                code, span = call("dictionary_encode", [code]).indices, rows
            number = call("coalesce", [numbers[key], integer(size[key] - 1)])
            code, span = call("add", [call("multiply", [code, integer(size[key])]), number]), span * size[key]
        many = call("value_counts", [own(code) if own else call("value_counts", [code]).field(1)]) if rows else []
        sizes = {str(n): of for n, of in sorted((one["values"].as_py(), one["counts"].as_py()) for one in many)}
        values = [*whole[keys[-1]].chunk(0).dictionary.to_pylist(), None] if rows and keys[-1][1] else []
        found.append((within(code, values, one["distance"]), None) if values else (int([*sizes, "0"][0]), sizes))
    return rows, kinds, found


def within(code: Any, values: Sequence[Any], distance: str | None) -> Any:
    """Return the fewest values of a class; with a distance how far they are at most from those of all records."""
    pairs = call("value_counts", [code])
    if distance is None:
        return min(call("value_counts", [call("divide", [pairs.field(0), integer(len(values))])]).field(1).to_pylist())
    classes, every = dict[int, Counter[Any]](), Counter[Any]()
    for pair, number in zip(pairs.field(0).to_pylist(), pairs.field(1).to_pylist(), strict=True):
        classes.setdefault(pair // len(values), Counter())[value := values[pair % len(values)]] = number
        every[value] += number
    n = every.total()
    if distance == "equal":
        return max(sum(max(c[v] * n - every[v] * c.total(), 0) for v in c) / (c.total() * n) for c in classes.values())
    no = {value: (value is None, str(value) == "nan") for value in every}  # NaN after all numbers, NULL last
    places = {v: at for at, v in enumerate(sorted(no, key=lambda v: (no[v], Decimal(0 if any(no[v]) else v))))}
    passed, far = [*accumulate(every[value] for value in places)], 0.0
    before = [*accumulate(passed, initial=0)]  # what has passed, summed up: the sum over a step of a class is one look
    for one in classes.values():
        size, level, low, moved = one.total(), 0, 0, 0
        for high, number in [*sorted((places[value], one[value]) for value in one), (len(places), 0)]:
            turn = bisect_right(passed, level * n // size, low, high)
            moved += level * n * (2 * turn - low - high) - size * (2 * before[turn] - before[low] - before[high])
            level, low = level + number, high
        far = max(far, moved / (size * n * max(len(places) - 1, 1)))
    return far


def check(release: Path, told: Any) -> list[str]:
    """Return in words of our own what was counted of a release; refuse one that is not what its certificate says."""
    of, apart = told["release"], {*told["not_counted"]}
    with regular(release) as file:
        found = hashlib.file_digest(file, "sha256").hexdigest() if of["kind"] == "file" else content(batches(release))
    rows, kinds, counted = recount(batches(release) if found == of["sha256"] else [], told["recounted"])
    if (found, rows, kinds) != (of["sha256"], of["rows"], of["columns"]):
        raise RefusedError("the certificate is of another release, or the release was changed")
    lines, own, whole = [], {name for name, _ in kinds}, False
    for one, (value, classes) in zip(told["recounted"], counted, strict=True):
        asked, of_all = one["threshold"], {*one["columns"]} == own - apart
        over = quoted(one["columns"]) + ", all that are counted" * of_all
        name = "k-anonymity" if one["sensitive"] is None else "t-closeness" if one["distance"] else "l-diversity"
        held = asked is None or (value <= asked <= 1 if one["distance"] else value >= asked >= 1)
        if (name, value, classes, held) != (one["check"], one["value"], one["classes"], True):
            raise RefusedError(f"a check is not what was counted: {name} is {value} over {over}")
        whole = whole or (of_all and one["sensitive"] is None and apart <= own)
        which = "" if one["sensitive"] is None else f" of {quoted(one['sensitive'])}"
        lines += [f"  {name}{which} is {value}, {asked or 'nothing'} was promised: over {over}"]
    if not whole:
        raise RefusedError("k must be counted over all columns of the release but those named as not counted")
    return lines


def line(one: Mapping[str, Any]) -> str:
    """Return as a line what is only said."""
    promised = "" if one["threshold"] is None else f", {one['threshold']} was promised"
    promised += ", but NOT required of this release" if promised and one.get("passed", True) is None else ""
    return f"  {one['check']} is {'not known' if one['value'] is None else one['value']}{promised}: {one['why']}"


def main() -> int:
    """Print whether a release is what its certificate says."""
    parser = argparse.ArgumentParser(prog="sqlmicro.verify", description="Check a release against its certificate.")
    parser.add_argument("release", type=Path)
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--signers", type=Path, help="whose keys are known, as ssh-keygen has it")
    parser.add_argument("--any-signer", action="store_true", help="accept whoever signed, or nobody")
    given, code = parser.parse_args(), 0
    try:
        with regular(given.certificate) as file:
            told = certificate((data := file.read()).decode())
        if not told["signed"] and (given.signers or not given.any_signer):
            raise RefusedError("nobody signed the certificate. --any-signer checks it all the same")
        signature = Path(f"{given.certificate}.sig")
        who = signer(data, signature, given.signers, given.any_signer) if told["signed"] else "NOBODY"
        lines = [f"VERIFIED: {given.release.name}, {told['release']['rows']} rows. Signed by: {who}", "recounted:"]
        lines += [*check(given.release, told), f"  not counted: {quoted([*told['not_counted']])}"]
        lines += ["attested by who signed, and by nothing else:", *map(line, told["attested"])]
        lines += [f"  it was measured with {len(told['ledger']['consulted'])} earlier releases of the same people"]
    except RefusedError as error:
        code, lines = [1, *error.args[1:]][-1], [f"NOT VERIFIED: {error.args[0]}"]
    except Exception as error:  # without the words of others, which may quote a value
        code, lines = 2, [f"NOT VERIFIED: {error if isinstance(error, OSError) else type(error).__name__ + ORDER}"]
    # Whatever names and texts have in them, it is harmless on a terminal. It is written at once: a pipe may end early.
    said = "\n".join("".join(c if c.isprintable() else ascii(c)[1:-1] for c in one) for one in lines)
    print(said, file=sys.stderr if code else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main())
