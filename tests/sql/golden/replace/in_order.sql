-- title: New values in the order of the records, NULL where there are none
-- source: sqlmicro: relations in one order are joined by place
-- reads: relation, values
-- returns: row_id, the columns, in the order of row_id
-- params: relation, values, columns (names in `values`)
SELECT
  r.row_id
  , v."value"
  , v."y"
FROM "staging"."typed" AS r
LEFT JOIN "staging"."new" AS v ON v.row_id = r.row_id
ORDER BY r.row_id
