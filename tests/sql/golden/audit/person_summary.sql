-- title: The least and the largest of a measure of the classes, and how many persons lie beyond a threshold
-- source: sqlmicro: a person is at risk as much as the record of hers that is most so, and counts once
-- reads: classes (measure), persons (a record for every person and class)
-- returns: classes, records (persons), lowest, highest, mean (over the persons, of the largest measure of each), classes
--   and records (persons, with any record there) below and above the threshold (0 without one)
-- params: classes, persons, columns, person, threshold
WITH found AS (
  SELECT min(c.measure) AS low, max(c.measure) AS high
  FROM "staging"."persons" AS p
  JOIN "staging"."classes" AS c ON p."a" IS NOT DISTINCT FROM c."a"
  GROUP BY p."p"),
measured AS (
  SELECT
    count(*) AS classes,
    min(measure) AS lowest,
    max(measure) AS highest,
    count(*) FILTER (WHERE measure < 0.5) AS classes_below,
    count(*) FILTER (WHERE measure > 0.5) AS classes_above
  FROM "staging"."classes")
SELECT
  classes,
  (SELECT count(*) FROM found) AS records,
  lowest,
  highest,
  (SELECT avg(high) FROM found) AS mean,
  classes_below,
  (SELECT count(*) FROM found WHERE low < 0.5) AS records_below,
  classes_above,
  (SELECT count(*) FROM found WHERE high > 0.5) AS records_above
FROM measured
