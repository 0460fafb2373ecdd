-- title: The words by which the records are put in order, where some records are left out
-- source: sqlmicro: a record has the word of its number, whatever others there are
-- reads: records, words (by position, as rowid)
-- returns: row_id, word
-- order: row_id; read by position
-- params: records, words
SELECT
  r.row_id,
  w.word
FROM {{ records | ident }} AS r
JOIN {{ words | ident }} AS w ON w.rowid = r.row_id
ORDER BY r.row_id
