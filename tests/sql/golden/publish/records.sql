-- title: The records as they are published, in an order that says nothing
-- source: sqlmicro: every record goes by a word of its own of a stream that only the key can make; its number is left out
-- reads: records (in the order of row_id), words (one for each of them, in the same order)
-- returns: the columns under their own names
-- params: records, words, columns
SELECT
  r."row_id_" AS "row_id",
  r."own" AS "own"
FROM "staging"."records" AS r
POSITIONAL JOIN "staging"."words" AS w
ORDER BY w.word
