"""Grouping methods: one module each; importing it registers it. May import `guarantees` and what is below it."""

from sqlmicro.group import individual_ranking as individual_ranking
from sqlmicro.group import k_ward as k_ward
from sqlmicro.group import kanonymeans as kanonymeans
from sqlmicro.group import kanonymeans_star as kanonymeans_star
from sqlmicro.group import max_distance as max_distance
from sqlmicro.group import mdav as mdav
from sqlmicro.group import mdav_plus as mdav_plus
from sqlmicro.group import mdav_star as mdav_star
from sqlmicro.group import mhm as mhm
from sqlmicro.group import microaggregate as microaggregate
from sqlmicro.group import optimal_univariate as optimal_univariate
from sqlmicro.group import recursive_k_ward as recursive_k_ward
from sqlmicro.group import secure_k_ward as secure_k_ward
from sqlmicro.group import single_axis as single_axis
from sqlmicro.group import split_group as split_group
from sqlmicro.group import v_mdav as v_mdav
