-- title: The records with their new values, of which there are some for every record
-- source: sqlmicro: in the order of row_id, new values stand in that of the records, so that nothing has to be looked up.
--   Whole numbers as in replace/released.sql
-- reads: relation (in the order of row_id), and the relations that carry new values, for every record
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), in_order (alias, relation), unordered,
--   whole, whole_floats (as columns)
SELECT
  CASE
    WHEN true AND "v1".row_id = r.row_id AND "v2".row_id = r.row_id THEN r.row_id
    ELSE error('new values must be those of the same records')
  END AS row_id,
  r.record
  , "r"."y" AS "net ""income"""
  , coalesce(
      TRY_CAST(round_even("v2"."y", 0) AS INTEGER),
      CAST("v2"."y" * (1 - 2.220446049250313e-16) AS INTEGER)) AS "y"
  , round_even("v1"."value", 0) + 0 AS "x"
FROM "staging"."typed" AS r
POSITIONAL JOIN "staging"."new_x" AS "v1"
POSITIONAL JOIN (FROM "staging"."new_y" ORDER BY row_id) AS "v2"
