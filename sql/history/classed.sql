-- title: The class of every record of a release
-- source: sqlmicro: told apart is what is told apart in the output
-- reads: records (as they are published)
-- returns: row_id, class: a whole number that every database has
-- params: records, kinds (columns by how they are hashed)
SELECT
  row_id,
  {{ kinds | combination }} AS class
FROM {{ records | ident }}
