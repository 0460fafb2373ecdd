-- title: The records with their new values, of which there are some for every record
-- source: sqlmicro: in the order of row_id, new values stand in that of the records, so that nothing has to be looked up
-- reads: relation (in the order of row_id), and the relations that carry new values, for every record
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), in_order (alias, relation), unordered
SELECT
  CASE
    WHEN true AND "v1".row_id = r.row_id AND "v2".row_id = r.row_id THEN r.row_id
    ELSE error('new values must be those of the same records')
  END AS row_id,
  r.record
  , "v1"."value" AS "x"
  , "r"."y" AS "net ""income"""
  , "v2"."y" AS "y"
FROM "staging"."typed" AS r
POSITIONAL JOIN "staging"."new_x" AS "v1"
POSITIONAL JOIN (FROM "staging"."new_y" ORDER BY row_id) AS "v2"
