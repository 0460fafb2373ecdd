-- title: About how many distinct values every column of a large table has, in one pass and constant memory
-- source: Flajolet, Fusy, Gandouet & Meunier (2007), HyperLogLog
-- reads: relation
-- returns: one row: row_count; for every column how many values it has and about how many are distinct; for every column of
--   whole numbers, in their order, the largest minus the smallest, and the smallest
-- params: relation, columns, integers
SELECT
  count(*) AS row_count
  {{ columns | listed(", count(r.{name}) AS present_{n}, approx_count_distinct(r.{name}) AS distinct_{n}") }}
  {{ integers | listed(", CAST(max(r.{name}) AS DOUBLE) - CAST(min(r.{name}) AS DOUBLE) AS spread_{n}, CAST(min(r.{name}) AS DOUBLE) AS smallest_{n}") }}
FROM {{ relation | ident }} AS r
