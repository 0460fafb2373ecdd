-- title: The records, those of the same content told apart by a number, so that each draws its own random numbers
-- source: sqlmicro: which of them has which number makes no difference, because they are the same
-- reads: numbered
-- returns: row_id, record, the columns, in the order of row_id
-- params: numbered, columns
SELECT
  row_id,
  hash(record, row_number() OVER (PARTITION BY record ORDER BY row_id)) AS record,
  {{ columns | idents }}
FROM {{ numbered | ident }}
ORDER BY row_id
