-- title: How many equivalence classes of each size there are
-- source: Samarati & Sweeney (1998); classes are formed on the text of the values, byte by byte, NULL is a value of its own;
--   NaN reads nan whatever its payload: a release has none, sqlmicro audit sees it in other tables. With columns of a person
--   a class is as large as it has persons, and each counts once, in her smallest class
-- reads: tbl
-- returns: size, classes, records (or persons, whose smallest class has that size)
-- params: tbl (name of a table), cols (list of its columns), person := [] (columns that say whose record it is)
WITH records AS (
  SELECT
    row(*COLUMNS(lambda c: list_contains(cols, c))) AS q,
    row(*COLUMNS(lambda c: list_contains(CASE WHEN len(person) = 0 THEN cols ELSE CAST(person AS VARCHAR[]) END, c))) AS p
  FROM (
    SELECT encode(CAST(COLUMNS(lambda c: list_contains(list_concat(cols, CAST(person AS VARCHAR[])), c)) AS VARCHAR))
    FROM query_table(tbl))
  WHERE (
    SELECT CASE WHEN list_has_all(struct_keys(s), list_concat(cols, CAST(person AS VARCHAR[]))) THEN true
      ELSE error('the table has no such column') END
    FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(tbl) LIMIT 1)))
SELECT
  n AS size,
  count(*) AS classes,
  n * count(*) AS records
FROM (SELECT count(*) AS n FROM records WHERE len(person) = 0 GROUP BY q)
GROUP BY n
UNION ALL
SELECT
  n AS size,
  CAST(count(*) / n AS BIGINT) AS classes,
  count(*) FILTER (WHERE is_first) AS records
FROM (
  SELECT n, row_number() OVER (PARTITION BY p ORDER BY n) = 1 AS is_first
  FROM (
    SELECT p, count(*) OVER (PARTITION BY q) AS n
    FROM (SELECT DISTINCT q, p FROM records WHERE len(person) > 0)))
GROUP BY n
ORDER BY size
