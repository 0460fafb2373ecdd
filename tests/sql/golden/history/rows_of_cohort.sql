-- title: The rows that come into the release of a series tonight, as texts that give the same values again
-- source: sqlmicro
-- reads: relation, cohort (row_id, row), and the relations that carry new values by row_id
-- returns: row, stratum (a hash), the columns
-- params: relation, cohort, by, columns (the column, where it comes from, its name there), joined (alias, relation)
SELECT
  n.row,
  hash(0, CAST(r."c2" AS VARCHAR)) AS stratum
  , CAST("v1"."value" AS VARCHAR) AS "c1"
  , CAST("r"."c2" AS VARCHAR) AS "c2"
FROM "staging"."cohort" AS n
JOIN "staging"."relation" AS r ON n.row_id = r.row_id
LEFT JOIN "staging"."ranked" AS "v1" ON n.row_id = "v1".row_id
