-- title: The values of the classes that a series opens tonight, without means of fewer than k values
-- source: sqlmicro; what is published of a column is about k persons, also where some founders of a class lack a value
-- reads: representatives (label, the columns), founders (row_id, label), relation
-- returns: label, the columns, the means
-- params: representatives, founders, relation, columns (taken as they are), means, k
SELECT
  v.label
  , v."c2"
  , CASE WHEN n."c1" >= 2 THEN v."c1" END AS "c1"
FROM "staging"."representatives" AS v
JOIN (
  SELECT
    f.label
    , count(r."c1") AS "c1"
  FROM "staging"."founders" AS f
  JOIN "staging"."relation" AS r USING (row_id)
  GROUP BY f.label) AS n USING (label)
