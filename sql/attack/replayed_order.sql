-- title: The records in the order that a run with the key of the session would have released them in
-- source: sqlmicro: the order of load/shuffled.sql, then that of publish/records.sql
-- reads: relation (position, record)
-- returns: position
-- params: relation
WITH numbered AS (
  SELECT
    position,
    row_number() OVER (ORDER BY record) - 1 AS row_id
  FROM {{ relation | ident }}
)
SELECT position
FROM numbered
ORDER BY {{ "sqlmicro_order" | draw("row_id") }}
