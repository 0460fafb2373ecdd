-- title: How often the values of a key repeat, and how many have more than one value in each of some columns
-- source: Codd (1972), functional dependency
-- reads: relation
-- returns: one row: keys (values of the key, of one column or of several together), records (that have one), repeated
--   (values that occur more than once); for every column how many of these have two values or more
-- params: relation, keys, columns, every (how many values of the key one is taken of)
SELECT
  count(*) AS keys,
  coalesce(sum(times), 0) AS records,
  count(*) FILTER (WHERE times > 1) AS repeated
  , count(*) FILTER (WHERE smallest_1 IS DISTINCT FROM largest_1) AS differing_1, count(*) FILTER (WHERE smallest_2 IS DISTINCT FROM largest_2) AS differing_2
FROM (
  SELECT
    count(*) AS times
    , min(r."x") AS smallest_1, max(r."x") AS largest_1, min(r."name") AS smallest_2, max(r."name") AS largest_2
  FROM "staging"."visits" AS r
  WHERE hash(r."net ""income""") % 1 = 0
    AND r."net ""income""" IS NOT NULL
  GROUP BY r."net ""income""")
