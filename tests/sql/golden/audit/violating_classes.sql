-- title: The equivalence classes with fewer than k records, smallest first
-- source: Samarati & Sweeney (1998); the values are only shown on request (--show-values)
-- reads: cells
-- returns: the columns as text, size
-- params: cells, plain, as_bits, as_bytes, as_nested_bits, k, most
SELECT
  CAST("name" AS VARCHAR) AS "name",
  CAST("net ""income""" AS VARCHAR) AS "net ""income""",
  size
FROM "staging"."cells"
WHERE size < 3
ORDER BY size, encode(CAST("name" AS VARCHAR)), encode(CAST("net ""income""" AS VARCHAR))
LIMIT 10
