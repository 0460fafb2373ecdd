-- title: The records with what is drawn and known by: a hash of their values
-- source: sqlmicro: made when it is asked for, which most methods never do; stored and sorted along it costs a sixth of
--   loading one column
-- reads: numbered (in the order of row_id)
-- returns: row_id, record, the columns, in the order of row_id
-- params: numbered, identity (the columns that are hashed), columns
SELECT
  row_id,
  hash("net ""income""") AS record,
  "net ""income""", "key_0"
FROM "staging"."numbered"
