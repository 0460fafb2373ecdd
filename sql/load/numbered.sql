-- title: The records, numbered once
-- source: sqlmicro: row_id is what all relations of a run are keyed by
-- reads: shuffled
-- returns: row_id from 0, record, the columns
-- params: shuffled, columns
SELECT
  row_number() OVER () - 1 AS row_id,
  record,
  {{ columns | idents }}
FROM {{ shuffled | ident }}
