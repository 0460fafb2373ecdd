"""Other programs on the same records, for usefulness.py: what they release, and who anonymeter singles out.

None is among our dependencies: they pin versions of NumPy and pandas that others of ours exclude, and run with ours all
the same. `pip install --target FOLDER --no-deps syndiffix sortedcontainers appdirs anonypyx anjana pycanon beartype
anonymeter`, and PYTHONPATH=FOLDER.
"""

import contextlib
import io
import logging
import re
from importlib.util import find_spec

import numpy as np
from _files import in_numbers

PARTS = (40, 20, 10, 5, 2)
"""Ranges of equal width that anjana may recode a number into, before it takes all values as one."""
LEFT_OUT = 10  # percent of the records that anjana may leave out
QUERIES, ATTEMPTS, COLUMNS = 500, 20_000, 4


def syndiffix(columns, table, nominal, k):
    """Return synthetic rows. There is no k."""
    from syndiffix import Synthesizer

    return _rows(Synthesizer(_frame(columns, table, nominal)).sample()), None


def anonypyx(columns, table, nominal, k):
    """Return rows recoded by Mondrian into ranges and sets."""
    import pandas as pd
    from anonypyx import Anonymiser

    frame = _frame(columns, table, nominal)
    for column in columns[:nominal]:
        frame[column] = frame[column].astype("category")
    options = {"k": k, "algorithm": "Mondrian", "generalisation_strategy": "human-readable"}
    found = pd.DataFrame(Anonymiser(frame, **options).anonymise())
    return _rows(found.loc[found.index.repeat(found["count"])][columns]), None


def anjana(columns, table, nominal, k):
    """Return rows recoded column by column along hierarchies, a tenth of them left out at most."""
    from anjana.anonymity import k_anonymity

    frame = _frame(columns, table, nominal)
    hierarchies = {}
    for column in columns:
        levels = [frame[column].to_numpy()]
        if column in columns[nominal:]:
            levels += [_ranges(levels[0], parts) for parts in PARTS]
        pairs = np.unique(levels[0], return_index=True)[1]
        levels = [level[pairs].astype(str) for level in levels]
        hierarchies[column] = dict(enumerate([*levels, np.full(len(pairs), "*")]))
        frame[column] = frame[column].astype(str)
    with contextlib.redirect_stdout(io.StringIO()):
        made = k_anonymity(frame, [], list(columns), k, LEFT_OUT, hierarchies)
    if made.empty:
        raise ValueError(f"anjana finds no release of k = {k} with {LEFT_OUT} % left out at most")
    ids = made["index"] if "index" in made.columns else range(len(made))
    return _rows(made[columns]), [int(one) for one in ids]


PEERS = {found.__name__: found for found in (syndiffix, anonypyx, anjana)}


def installed():
    """Return the names of the peers that can be imported."""
    return [name for name in PEERS if find_spec(name)]


def singled_out(members, shown, held, nominal):
    """Return what anonymeter calls the risk of singling out, above that of persons held out; None without it.

    Each is a list of columns. Its predicates compare numbers by <= and >=, and are true of one record of those shown,
    of which it takes every one once.
    """
    if not find_spec("anonymeter"):
        return None
    import pandas as pd
    from anonymeter.evaluators import SinglingOutEvaluator

    logging.getLogger("anonymeter").setLevel(logging.ERROR)
    frames = [pd.DataFrame({f"c{j}": column if j >= nominal else column.astype(str) for j, column in enumerate(part)})
              for part in (members, shown, held)]  # fmt: skip
    options = {"n_attacks": QUERIES, "n_cols": min(COLUMNS, len(members)), "max_attempts": ATTEMPTS, "seed": 1}
    try:
        found = SinglingOutEvaluator(frames[0], frames[1], control=frames[2], **options).evaluate("multivariate")
    except RuntimeError:  # its correction for the fewer records held out could not be fitted
        return None
    return round(float(found.risk().value), 4)


def _frame(columns, table, nominal):
    import pandas as pd

    frame = pd.DataFrame(dict(zip(columns, zip(*table, strict=True), strict=True)))
    for column in columns[nominal:]:
        frame[column] = in_numbers(frame[column])
    return frame


def _ranges(values, parts):
    ends = np.linspace(values.min(), values.max(), parts + 1)
    at = np.clip(np.searchsorted(ends, values, "right") - 1, 0, parts - 1)
    return np.array([f"[{ends[i]}, {ends[i + 1]}]" for i in at])


def _rows(frame):
    return [[_plain(value) for value in row] for row in frame.itertuples(index=False)]


def _plain(value):
    text = str(value).strip()
    if text.startswith("["):
        return text
    ends = re.fullmatch(r"(-?[\d.]+) ?- ?(-?[\d.]+)", text)
    return f"[{ends[1]}, {ends[2]}]" if ends else "{" + ", ".join(text.split(",")) + "}" if "," in text else text
