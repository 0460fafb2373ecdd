-- title: The rows of a night of a series: records that have a seat, and empty seats
-- source: sqlmicro; every row has the stratum of its class, whatever has become of the person since, and an empty seat the
--   sensitive values it always had
-- reads: relation, seats, empty (row_id above all others, label, value), representatives, texts (value, column_name, text)
-- returns: row_id, record (0 for an empty seat), the columns; what a class gives them comes later
-- params: relation, seats, empty, representatives, texts, strata, sensitive, others
SELECT
  r.row_id,
  r.record
  , v."c2"
  , r."d"
  , r."c1"
FROM "staging"."relation" AS r
JOIN "staging"."seats" AS s USING (row_id)
JOIN "staging"."representatives" AS v USING (label)
UNION ALL
SELECT
  e.row_id,
  CAST(0 AS UBIGINT)
  , v."c2"
  , (SELECT CAST(max(t.text) AS VARCHAR) FROM "staging"."texts" AS t
      WHERE t.value = e.value AND t.column_name = 'diagnosis')
  , NULL
FROM "staging"."empty" AS e
JOIN "staging"."representatives" AS v USING (label)
