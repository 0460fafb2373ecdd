-- title: By how much the cross table of the columns differs between two tables
-- source: Höhne, SAFE: sum of the differences of the counts, divided by the records of both
-- reads: a, b
-- returns: one row: cells, changed, largest (difference of a count), distance (0 to 1)
-- params: a (name of a table), b (name of another), cols (list of columns both have)
SELECT
  count(*) AS cells,
  count(*) FILTER (WHERE d <> 0) AS changed,
  max(abs(d)) AS largest,
  sum(abs(d)) / sum(n) AS distance
FROM (
  SELECT q, sum(side) AS d, count(*) AS n
  FROM (
    SELECT row(*COLUMNS(*)) AS q, 1 AS side
    FROM (SELECT encode(CAST(COLUMNS(lambda c: list_contains(cols, c)) AS VARCHAR)) FROM query_table(a))
    WHERE (
      SELECT CASE WHEN list_has_all(struct_keys(s), cols) THEN true ELSE error('the table has no such column') END
      FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(a) LIMIT 1))
    UNION ALL
    SELECT row(*COLUMNS(*)) AS q, -1 AS side
    FROM (SELECT encode(CAST(COLUMNS(lambda c: list_contains(cols, c)) AS VARCHAR)) FROM query_table(b))
    WHERE (
      SELECT CASE WHEN list_has_all(struct_keys(s), cols) THEN true ELSE error('the table has no such column') END
      FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(b) LIMIT 1)))
  GROUP BY q)
