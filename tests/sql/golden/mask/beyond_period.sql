-- title: How many dates of every column lie, once they are moved, outside of the period that it had
-- source: Hripcsak, Mirhaji, Low & Malin (2016): whoever knows the period learns by how much they were moved at least
-- reads: dates, shifted
-- returns: one row for each column: place from 1, beyond, moved
-- params: dates, shifted, columns (the column, how many of its units are a day)
SELECT
  1 AS place,
  count(*) FILTER (WHERE floor(s."seen" / 1) NOT BETWEEN p.low AND p.high) AS beyond,
  count(*) AS moved
FROM "staging"."dates" AS d
JOIN "staging"."shifted" AS s ON s.row_id = d.row_id
CROSS JOIN (
  SELECT
    floor(min("seen") / 1) AS low,
    floor(max("seen") / 1) AS high
  FROM "staging"."dates") AS p
WHERE d."seen" IS NOT NULL
UNION ALL
SELECT
  2 AS place,
  count(*) FILTER (WHERE floor(s."moment" / 86400000000) NOT BETWEEN p.low AND p.high) AS beyond,
  count(*) AS moved
FROM "staging"."dates" AS d
JOIN "staging"."shifted" AS s ON s.row_id = d.row_id
CROSS JOIN (
  SELECT
    floor(min("moment") / 86400000000) AS low,
    floor(max("moment") / 86400000000) AS high
  FROM "staging"."dates") AS p
WHERE d."moment" IS NOT NULL
