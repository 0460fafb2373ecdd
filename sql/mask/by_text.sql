-- title: What the text of every value becomes
-- source: sqlmicro
-- reads: relation, texts (text, becomes)
-- returns: row_id, value; records without a value are left out
-- params: relation, column, texts
SELECT
  r.row_id,
  t.becomes AS value
FROM {{ relation | ident }} AS r
JOIN {{ texts | ident }} AS t ON t.text = CAST(r.{{ column | ident }} AS VARCHAR)
