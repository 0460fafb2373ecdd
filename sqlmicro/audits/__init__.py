"""What a release discloses and what it is good for: one module per measure, in the order in which they are shown. May
import `safe_method`, `attacks` and what is below them."""

# isort: off
from sqlmicro.audits import k_anonymity as k_anonymity
from sqlmicro.audits import l_diversity as l_diversity
from sqlmicro.audits import closeness as closeness
from sqlmicro.audits import risk as risk
from sqlmicro.audits import suda as suda
from sqlmicro.audits import contribution as contribution
from sqlmicro.audits import interval as interval
from sqlmicro.audits import linkage as linkage
from sqlmicro.audits import missing as missing
from sqlmicro.audits import information_loss as information_loss
from sqlmicro.audits import moments as moments
from sqlmicro.audits import distributions as distributions
from sqlmicro.audits import regression as regression
from sqlmicro.audits import propensity as propensity
from sqlmicro.audits import tables as tables
from sqlmicro.audits import deniable as deniable
# isort: on
