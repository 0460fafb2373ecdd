-- title: How frequent a sensitive value is in a class at most, and compared with the whole table
-- source: Wong, Li, Fu & Wang (2006), alpha of (alpha, k)-anonymity; Cao & Karras (2012), basic beta-likeness, (q - p) / p of the
--   value that gains most. The whole table is the release: where records were left out, sqlmicro audit compares with the input
-- reads: tbl
-- returns: one row: alpha (share of the most frequent value of a class), beta
-- params: tbl (name of a table), cols (list of its columns), sensitive (name of a column)
SELECT
  max(n / in_class) AS alpha,
  max(n / in_class * records / in_table) - 1 AS beta
FROM (
  SELECT
    n,
    sum(n) OVER (PARTITION BY q) AS in_class,
    sum(n) OVER (PARTITION BY s) AS in_table,
    sum(n) OVER () AS records
  FROM (
    SELECT
      row(*COLUMNS(lambda c: list_contains(cols, c))) AS q,
      row(*COLUMNS(lambda c: c = sensitive)) AS s,
      count(*) AS n
    FROM (
      SELECT encode(CAST(COLUMNS(lambda c: list_contains(list_append(cols, sensitive), c)) AS VARCHAR))
      FROM query_table(tbl)
      WHERE (
        SELECT CASE WHEN list_has_all(struct_keys(s), list_append(cols, sensitive)) THEN true
          ELSE error('the table has no such column') END
        FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(tbl) LIMIT 1)))
    GROUP BY ALL))
