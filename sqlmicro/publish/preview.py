"""The preview of a release, `--diff`: some of its records, and which of their values were changed.

What a value was before is raw data, and is never shown, only whether it was changed. Nor is a value shown for which no
step promises k, or which is released as it is: it may be that of one person. At least k records of the release share
what is shown of a record: the combination of the columns of a step that promises k for records, the value of a column
where it promises k for values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.database.templates import Params
from sqlmicro.database.warehouse import ORDER
from sqlmicro.publish.release import published_as
from sqlmicro.publish.report import Preview, PreviewRow

if TYPE_CHECKING:
    from sqlmicro.publish.release import Release

LEAST = 2


def preview(release: Release, rows: int) -> Preview:
    """Return some records of a release that was rehearsed.

    Parameters
    ----------
    release : Release
        A release, whose staging relations are still there.
    rows : int
        How many records, at most.

    Returns
    -------
    Preview
        O(n log n) in the database.
    """

    run, warehouse = release.run, release.run.warehouse
    run.resume()
    classes = [
        (columns, max(claim.terms.k, LEAST))
        for claim in run.promises.claims
        for columns in ([claim.columns] if claim.promise == "record" else [(column,) for column in claim.columns])
        if claim.promise in ("record", "column") and columns
    ]
    without = [claim for claim in run.promises.claims if claim.promise not in ("record", "column")]
    held = {column for columns, _ in classes for column in columns}
    held -= {column for claim in without for column in claim.columns}
    shown = [column for column in run.source.columns if column in held]
    kept = set(run.roles.kept)
    hidden = {
        column.name: "released as it is" if column in kept else "no k is promised for it"
        for column in run.roles.released
        if column not in held
    }
    k, names = min((k for _, k in classes), default=None), [column.name for column in shown]
    if not shown:
        return Preview(names, hidden, [], k)
    warehouse.set_key(ORDER, release.outputs[-1].order)
    drawn = warehouse.run("publish/preview.sql", "preview", released=run.table.current, classes=classes, most=rows)
    numbers = [column for column in shown if run.table.as_it_is(column).numeric]
    others = [column for column in shown if column not in numbers]
    marks = warehouse.rows(
        "publish/preview_marks.sql", original=run.table.original, preview=drawn, numbers=numbers, others=others
    )
    kinds: Params = published_as(run, in_place=False)
    records = warehouse.run("publish/own_types.sql", "preview_in_own_types", view=True, released=drawn, **kinds)
    values = warehouse.rows("publish/preview_values.sql", records=records, columns=shown)
    order = [[*numbers, *others].index(column) for column in shown]
    found = [
        PreviewRow(size, list(row), [told[place] for place in order])
        for (size, *told), row in zip(marks, values, strict=True)
    ]
    return Preview(names, hidden, found, k)
