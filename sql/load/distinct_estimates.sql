-- title: About how many distinct values every column has
-- source: Flajolet, Fusy, Gandouet & Meunier (2007), HyperLogLog
-- reads: relation
-- returns: one row with a number for every column, in their order
-- params: relation, columns
SELECT{{ columns | listed("\n  approx_count_distinct({name}) AS distinct_{n}") }}
FROM {{ relation | ident }}
