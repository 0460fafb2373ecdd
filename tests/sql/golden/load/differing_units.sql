-- title: How many units have more than one value in each of some columns
-- source: Codd (1972), functional dependency; NULL is a value of its own
-- reads: relation (by row_id), members (row_id, unit)
-- returns: one row: units, repeated (those of more than one record); for every column how many of them have two values
--   or more
-- params: relation, members, columns
SELECT
  count(*) AS units,
  count(*) FILTER (WHERE times > 1) AS repeated
  , count(*) FILTER (WHERE smallest_1 IS DISTINCT FROM largest_1
      OR known_1 NOT IN (0, times)) AS differing_1
  , count(*) FILTER (WHERE smallest_2 IS DISTINCT FROM largest_2
      OR known_2 NOT IN (0, times)) AS differing_2
FROM (
  SELECT
    count(*) AS times
    , min(r."net ""income""") AS smallest_1
    , max(r."net ""income""") AS largest_1
    , count(r."net ""income""") AS known_1
    , min(r."s") AS smallest_2
    , max(r."s") AS largest_2
    , count(r."s") AS known_2
  FROM "staging"."relation" AS r
  JOIN "staging"."members" AS m USING (row_id)
  GROUP BY m.unit)
