"""What somebody can do with a release, measured: one module per attack, in the order in which they are shown. May
import `group` and what is below it."""

# isort: off
from sqlmicro.attacks import distance  # noqa: F401
from sqlmicro.attacks import ranks  # noqa: F401
from sqlmicro.attacks import intersection  # noqa: F401
from sqlmicro.attacks import row_order  # noqa: F401
from sqlmicro.attacks import key_replay  # noqa: F401
from sqlmicro.attacks import insider  # noqa: F401
from sqlmicro.attacks import homogeneity  # noqa: F401
from sqlmicro.attacks import averaging  # noqa: F401
from sqlmicro.attacks import difference  # noqa: F401
from sqlmicro.attacks import same_order  # noqa: F401
# isort: on
