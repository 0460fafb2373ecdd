"""Masking methods: one module each; importing it registers the method. May import `guarantees` and what is below it."""

from sqlmicro.mask import coding as coding
from sqlmicro.mask import constant as constant
from sqlmicro.mask import generalize as generalize
from sqlmicro.mask import mondrian as mondrian
from sqlmicro.mask import noise as noise
from sqlmicro.mask import partial as partial
from sqlmicro.mask import pram as pram
from sqlmicro.mask import pseudonymise as pseudonymise
from sqlmicro.mask import sample as sample
from sqlmicro.mask import shuffle as shuffle
from sqlmicro.mask import suppress as suppress
from sqlmicro.mask import swap as swap
