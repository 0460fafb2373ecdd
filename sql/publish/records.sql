-- title: The records as they are published, in an order that says nothing
-- source: sqlmicro: every record goes by a word of its own of a stream that only the key can make; its number is left out
-- reads: records (in the order of row_id), words (one for each of them, in the same order)
-- returns: the columns under their own names
-- params: records, words, columns
SELECT{{ columns | listed("\n  r.{} AS {name}") }}
FROM {{ records | ident }} AS r
POSITIONAL JOIN {{ words | ident }} AS w
ORDER BY w.word
