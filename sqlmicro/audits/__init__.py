"""What a release discloses and what it is good for: one module per measure, in the order in which they are shown. May
import `safe_method`, `attacks` and what is below them."""

# isort: off
from sqlmicro.audits import k_anonymity  # noqa: F401
from sqlmicro.audits import l_diversity  # noqa: F401
from sqlmicro.audits import closeness  # noqa: F401
from sqlmicro.audits import risk  # noqa: F401
from sqlmicro.audits import suda  # noqa: F401
from sqlmicro.audits import contribution  # noqa: F401
from sqlmicro.audits import interval  # noqa: F401
from sqlmicro.audits import linkage  # noqa: F401
from sqlmicro.audits import missing  # noqa: F401
from sqlmicro.audits import information_loss  # noqa: F401
from sqlmicro.audits import moments  # noqa: F401
from sqlmicro.audits import distributions  # noqa: F401
from sqlmicro.audits import regression  # noqa: F401
from sqlmicro.audits import propensity  # noqa: F401
from sqlmicro.audits import tables  # noqa: F401
# isort: on
