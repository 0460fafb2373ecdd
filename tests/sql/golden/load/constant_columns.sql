-- title: Within how many values of a key each of some columns has more than one value, NULL being one of its own
-- source: Codd (1972), functional dependency
-- reads: relation
-- returns: one row: repeated (values of the key that occur more than once); for every column how many of them have
--   two values or more
-- params: relation, key, columns, every (how many values of the key one is taken of)
SELECT
  count(*) AS repeated
  , count(*) FILTER (WHERE smallest_1 IS DISTINCT FROM largest_1 OR known_1 NOT IN (0, times)) AS differing_1
  , count(*) FILTER (WHERE smallest_2 IS DISTINCT FROM largest_2 OR known_2 NOT IN (0, times)) AS differing_2
FROM (
  SELECT
    count(*) AS times
    , min(r."x") AS smallest_1, max(r."x") AS largest_1, count(r."x") AS known_1
    , min(r."name") AS smallest_2, max(r."name") AS largest_2, count(r."name") AS known_2
  FROM "staging"."visits" AS r
  WHERE r."net ""income""" IS NOT NULL AND hash(r."net ""income""") % 1 = 0
  GROUP BY r."net ""income""")
WHERE times > 1
