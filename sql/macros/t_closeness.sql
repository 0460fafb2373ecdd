-- title: How far the sensitive column of a class is from the whole table, at most
-- source: Li, Li & Venkatasubramanian (2007), equal distance: half the sum of the differences of the shares
-- reads: tbl
-- returns: one row: t
-- params: tbl (name of a table), cols (list of its columns), sensitive (name of a column)
SELECT max(d) AS t
FROM (
  SELECT q, sum(greatest(n / in_class - in_table / records, 0)) AS d
  FROM (
    SELECT
      q,
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
  GROUP BY q)
