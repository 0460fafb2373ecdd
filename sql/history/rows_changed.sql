-- title: The rows of a source, and which of them are in a list of changes
-- source: sqlmicro
-- reads: relation (the user's table), changes (the row keys of what has come, changed or gone)
-- returns: record (as in load/typed.sql), news
-- params: relation, changes, row_key
SELECT
  record,
  record IN (SELECT hash({{ row_key | listed("CAST({name} AS VARCHAR)") }}) FROM {{ changes | ident }}) AS news
FROM (SELECT hash({{ row_key | listed("CAST({name} AS VARCHAR)") }}) AS record FROM {{ relation | ident }})
