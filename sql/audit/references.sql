-- title: How many rows a foreign key joins, before and after
-- source: sqlmicro
-- reads: child_before, parent_before, child_kept (row_id: the records that are released), child, parent (as released)
-- returns: records (of the child), missing (those with NULL in the key), held (rows of the join before, of the records
--   that are released), joined (rows of the join after; values are compared as text)
-- params: child_before, parent_before, child_kept, child, parent, columns (of the child), keys (of the parent),
--   released_columns, released_keys (as they are called in the releases)
WITH before AS (
  SELECT {{ keys | listed("{} AS key_{n}") }}, count(*) AS times
  FROM {{ parent_before | ident }}
  GROUP BY ALL),
after AS (
  SELECT {{ released_keys | listed("CAST({} AS VARCHAR) AS key_{n}") }}, count(*) AS times
  FROM {{ parent | ident }}
  GROUP BY ALL),
referring AS (
  SELECT {{ columns | listed("{} AS key_{n}") }}
  FROM {{ child_before | ident }}
  SEMI JOIN {{ child_kept | ident }} USING (row_id)),
released AS (
  SELECT {{ released_columns | listed("CAST({} AS VARCHAR) AS key_{n}") }}
  FROM {{ child | ident }})
SELECT
  (SELECT count(*) FROM released) AS records,
  (SELECT count(*)
    FROM released
    WHERE false{% for column in columns %} OR key_{{ loop.index }} IS NULL{% endfor %}) AS missing,
  (SELECT CAST(coalesce(sum(times), 0) AS BIGINT)
    FROM referring
    JOIN before USING ({{ columns | listed("key_{n}") }})) AS held,
  (SELECT CAST(coalesce(sum(times), 0) AS BIGINT)
    FROM released
    JOIN after USING ({{ columns | listed("key_{n}") }})) AS joined
