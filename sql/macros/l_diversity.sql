-- title: How many different values of a sensitive column the poorest class has
-- source: Machanavajjhala et al. (2007), distinct and entropy l-diversity; NULL is a value of its own
-- reads: tbl
-- returns: one row: distinct_l, entropy_l
-- params: tbl (name of a table), cols (list of its columns), sensitive (name of a column)
SELECT
  min(l) AS distinct_l,
  min(e) AS entropy_l
FROM (
  SELECT
    q,
    count(*) AS l,
    exp(-sum(n / t * ln(n / t))) AS e
  FROM (
    SELECT q, n, sum(n) OVER (PARTITION BY q) AS t
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
