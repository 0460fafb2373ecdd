-- title: Of how many persons one date tells by how much they were moved
-- source: sqlmicro: where a date has more than half of all that are near enough to be taken for it, whoever sees a date
--   near it is right to take it for that one more often than not; dates of fewer persons are not known so well
-- reads: dates, offsets
-- returns: one row for each column: place from 1, persons (most of one such date; 0 where there is none)
-- params: dates, offsets, columns (the column, how many of its units are a day), within, least
SELECT
  1 AS place,
  coalesce(max(persons), 0) AS persons
FROM (
  SELECT
    persons,
    sum(persons) OVER (ORDER BY day RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS near
  FROM (
    SELECT
      CAST(floor(d."seen" / 1) AS BIGINT) AS day,
      count(DISTINCT o.person) AS persons
    FROM "staging"."dates" AS d
    JOIN "staging"."offsets" AS o USING (row_id)
    WHERE d."seen" IS NOT NULL
    GROUP BY ALL)) AS days
WHERE persons >= 1 AND 2 * persons > near
UNION ALL
SELECT
  2 AS place,
  coalesce(max(persons), 0) AS persons
FROM (
  SELECT
    persons,
    sum(persons) OVER (ORDER BY day RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS near
  FROM (
    SELECT
      CAST(floor(d."moment" / 86400000000) AS BIGINT) AS day,
      count(DISTINCT o.person) AS persons
    FROM "staging"."dates" AS d
    JOIN "staging"."offsets" AS o USING (row_id)
    WHERE d."moment" IS NOT NULL
    GROUP BY ALL)) AS days
WHERE persons >= 1 AND 2 * persons > near
