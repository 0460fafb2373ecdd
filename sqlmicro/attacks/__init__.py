"""What an attacker can do with a release, measured: one module per attack, in the order in which they are shown."""

# isort: off
from sqlmicro.attacks import distance as distance
from sqlmicro.attacks import ranks as ranks
from sqlmicro.attacks import intersection as intersection
from sqlmicro.attacks import row_order as row_order
from sqlmicro.attacks import key_replay as key_replay
from sqlmicro.attacks import insider as insider
from sqlmicro.attacks import homogeneity as homogeneity
from sqlmicro.attacks import averaging as averaging
from sqlmicro.attacks import difference as difference
from sqlmicro.attacks import same_order as same_order
# isort: on
