-- title: How many equivalence classes of each size there are
-- source: Samarati & Sweeney (1998); classes are formed on the text of the values, byte by byte, NULL is a value of its own;
--   NaN reads nan whatever its payload: a release has none, sqlmicro audit sees it in other tables
-- reads: tbl
-- returns: size, classes
-- params: tbl (name of a table), cols (list of its columns)
SELECT
  n AS size,
  count(*) AS classes
FROM (
  SELECT count(*) AS n
  FROM (
    SELECT row(*COLUMNS(*)) AS q
    FROM (SELECT encode(CAST(COLUMNS(lambda c: list_contains(cols, c)) AS VARCHAR)) FROM query_table(tbl))
    WHERE (
      SELECT CASE WHEN list_has_all(struct_keys(s), cols) THEN true ELSE error('the table has no such column') END
      FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(tbl) LIMIT 1)))
  GROUP BY q)
GROUP BY n
ORDER BY n
