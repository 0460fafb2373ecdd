-- title: The values of the classes that a series opens tonight, with their stratum
-- source: sqlmicro; all founders of a class are of one stratum
-- reads: representatives (label, the columns), founders (row_id, label), relation
-- returns: label, the columns, the strata
-- params: representatives, founders, relation, columns, strata
SELECT
  v.label
  , v."c1"
  , s."c2"
FROM "staging"."representatives" AS v
JOIN (
  SELECT DISTINCT
    f.label
    , r."c2"
  FROM "staging"."founders" AS f
  JOIN "staging"."relation" AS r USING (row_id)) AS s USING (label)
