-- title: The least and the largest of a measure of the classes, and how many persons lie beyond a threshold
-- source: sqlmicro: a person is at risk as much as the record of hers that is most so, and counts once
-- reads: classes (measure), persons (a record for every person and class)
-- returns: classes, records (persons), lowest, highest, mean (over the persons, of the largest measure of each), classes
--   and records (persons, with any record there) below and above the threshold (0 without one)
-- params: classes, persons, columns, person, threshold
WITH found AS (
  SELECT min(c.measure) AS low, max(c.measure) AS high
  FROM {{ persons | ident }} AS p
  JOIN {{ classes | ident }} AS c ON {{ columns | same("p", "c") }}
  GROUP BY {{ person | listed("p.{}") }}),
measured AS (
  SELECT
    count(*) AS classes,
    min(measure) AS lowest,
    max(measure) AS highest,
    count(*) FILTER (WHERE measure < {{ threshold | lit }}) AS classes_below,
    count(*) FILTER (WHERE measure > {{ threshold | lit }}) AS classes_above
  FROM {{ classes | ident }})
SELECT
  classes,
  (SELECT count(*) FROM found) AS records,
  lowest,
  highest,
  (SELECT avg(high) FROM found) AS mean,
  classes_below,
  (SELECT count(*) FROM found WHERE low < {{ threshold | lit }}) AS records_below,
  classes_above,
  (SELECT count(*) FROM found WHERE high > {{ threshold | lit }}) AS records_above
FROM measured
