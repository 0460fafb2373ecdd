-- title: The rows of a source, and which of them a watermark tells to be new or changed
-- source: sqlmicro; a row as late as the last one that was read may have come after it, and one without a watermark at any
--   time
-- reads: relation (the user's table)
-- returns: record (as in load/typed.sql), news
-- params: relation, row_key, watermark (a column), mark (the largest that was there last time)
SELECT
  hash({{ row_key | listed("CAST({name} AS VARCHAR)") }}) AS record,
  coalesce({{ watermark.name | ident }} >= CAST({{ mark | lit }} AS {{ watermark | sqltype }}), true) AS news
FROM {{ relation | ident }}
