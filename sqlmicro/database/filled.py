"""Relations that no SELECT fills: how a script shows them, and the words that a release is put in order by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.system.secrets import Key

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = (
    "-- {{ comment | comment }}\nCREATE OR REPLACE TABLE {{ target | ident }} ("
    "{% for name, kind in types %}{{ name | ident }} {{ kind | sqltype }}"
    "{% if not loop.last %}, {% endif %}{% endfor %});"
)
"""A relation that a kernel has filled."""
DRAWN = """-- The run used the words of a secret key in place of these.
CREATE OR REPLACE TABLE {{ target | ident }} AS
SELECT md5_number_upper(CAST(uuid() AS VARCHAR)) AS word FROM range({{ n | lit }})"""
"""What stands for words in a script: others, which nobody can foretell either."""


def words(key: str, n: int) -> pa.RecordBatchReader:
    """Return n words of the key of an order as a relation of Arrow's, made as they are read: see `Key.words`."""
    import pyarrow as pa

    schema = pa.schema([("word", pa.uint64())])

    def batch(block: bytes) -> pa.RecordBatch:
        # of a buffer: pa.array of an ndarray loads pandas where it is installed
        column = pa.Array.from_buffers(pa.uint64(), len(block) // 8, [None, pa.py_buffer(block)])
        return pa.RecordBatch.from_arrays([column], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, map(batch, Key.words(key, n)))
