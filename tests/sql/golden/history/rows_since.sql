-- title: The rows of a source, and which of them a watermark tells to be new or changed
-- source: sqlmicro; a row as late as the last one that was read may have come after it, and one without a watermark at any
--   time
-- reads: relation (the user's table)
-- returns: record (as in load/typed.sql), news
-- params: relation, row_key, watermark (a column), mark (the largest that was there last time)
SELECT
  hash(CAST("id" AS VARCHAR)) AS record,
  coalesce("at" >= CAST('2026-01-02' AS DATE), true) AS news
FROM "staging"."relation"
