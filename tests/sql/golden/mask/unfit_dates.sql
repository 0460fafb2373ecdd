-- title: How many dates of every column cannot be moved: they are infinite, or would leave the calendar
-- source: sqlmicro
-- reads: dates
-- returns: one row for each column: place from 1, unfit
-- params: dates, columns (the column, its smallest and its largest value)
SELECT
  1 AS place,
  count(*) AS unfit
FROM "staging"."dates"
WHERE "seen" NOT BETWEEN -2 AND 10
UNION ALL
SELECT
  2 AS place,
  count(*) AS unfit
FROM "staging"."dates"
WHERE "moment" NOT BETWEEN -5 AND 9
