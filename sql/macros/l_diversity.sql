-- title: How many different values of a sensitive column the poorest class has
-- source: Machanavajjhala et al. (2007), distinct, entropy and recursive (c, l)-diversity; NULL is a value of its own. Values are
--   counted over records; with columns of a person no class has more of them than persons
-- reads: tbl
-- returns: one row: distinct_l, entropy_l, recursive_l (the largest l with r1 < c (rl + ... + rm) in every class, 0 for none)
-- params: tbl (name of a table), cols (list of its columns), sensitive (name of a column), person := [] (columns that say
--   whose record it is), recursive_c := 2.0 (the c of recursive l-diversity)
WITH records AS (
  SELECT
    row(*COLUMNS(lambda c: list_contains(cols, c))) AS q,
    row(*COLUMNS(lambda c: c = sensitive)) AS s,
    row(*COLUMNS(lambda c: list_contains(CASE WHEN len(person) = 0 THEN cols ELSE CAST(person AS VARCHAR[]) END, c))) AS p
  FROM (
    SELECT encode(CAST(COLUMNS(
      lambda c: list_contains(list_concat(list_append(cols, sensitive), CAST(person AS VARCHAR[])), c)) AS VARCHAR))
    FROM query_table(tbl))
  WHERE (
    SELECT CASE
      WHEN list_has_all(struct_keys(s), list_concat(list_append(cols, sensitive), CAST(person AS VARCHAR[]))) THEN true
      ELSE error('the table has no such column') END
    FROM (SELECT struct_pack(*COLUMNS(*)) AS s FROM query_table(tbl) LIMIT 1))),
values_of AS (
  SELECT
    q,
    n,
    sum(n) OVER (PARTITION BY q) AS t,
    max(n) OVER (PARTITION BY q) AS high,
    sum(n) OVER (PARTITION BY q ORDER BY n DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS remainder
  FROM (SELECT q, s, count(*) AS n FROM records GROUP BY q, s)),
classes AS (
  SELECT
    q,
    count(*) AS l,
    exp(-sum(n / t * ln(n / t))) AS e,
    count(*) FILTER (WHERE high < recursive_c * remainder) AS r
  FROM values_of
  GROUP BY q
  UNION ALL
  SELECT q, count(DISTINCT p) AS l, count(DISTINCT p) AS e, count(DISTINCT p) AS r
  FROM records
  WHERE len(person) > 0
  GROUP BY q)
SELECT
  min(l) AS distinct_l,
  min(e) AS entropy_l,
  min(r) AS recursive_l
FROM classes
