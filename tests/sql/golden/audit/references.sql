-- title: How many rows a foreign key joins, before and after
-- source: sqlmicro
-- reads: child_before, parent_before, child_kept (row_id: the records that are released), child, parent (as released)
-- returns: records (of the child), missing (those with NULL in the key), held (rows of the join before, of the records
--   that are released), joined (rows of the join after; values are compared as text)
-- params: child_before, parent_before, child_kept, child, parent, columns (of the child), keys (of the parent),
--   released_columns, released_keys (as they are called in the releases)
WITH before AS (
  SELECT "x" AS key_1, "b" AS key_2, count(*) AS times
  FROM "staging"."parent_before"
  GROUP BY ALL),
after AS (
  SELECT CAST("x" AS VARCHAR) AS key_1, CAST("b" AS VARCHAR) AS key_2, count(*) AS times
  FROM "staging"."parent"
  GROUP BY ALL),
referring AS (
  SELECT "size_" AS key_1, "b" AS key_2
  FROM "staging"."child_before"
  SEMI JOIN "staging"."child_kept" USING (row_id)),
released AS (
  SELECT CAST("p" AS VARCHAR) AS key_1, CAST("q" AS VARCHAR) AS key_2
  FROM "staging"."child")
SELECT
  (SELECT count(*) FROM released) AS records,
  (SELECT count(*)
    FROM released
    WHERE false OR key_1 IS NULL OR key_2 IS NULL) AS missing,
  (SELECT CAST(coalesce(sum(times), 0) AS BIGINT)
    FROM referring
    JOIN before USING (key_1, key_2)) AS held,
  (SELECT CAST(coalesce(sum(times), 0) AS BIGINT)
    FROM released
    JOIN after USING (key_1, key_2)) AS joined
