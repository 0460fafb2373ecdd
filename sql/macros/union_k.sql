-- title: How many persons share their classes in all of several releases, at least
-- source: Ganta, Kasiviswanathan & Smith (2008), composition attacks. A class is formed on those of the columns that the
--   release has; it must have one. Who is missing in a release shares that with all who are; records without a key are one
--   person. Whatever is computed from totals of the releases is about union_k records or none
-- reads: tbls
-- returns: one row: union_k (NULL for empty tables), persons, alone (persons who share their classes with nobody)
-- params: tbls (names of up to 8 releases), cols (list of columns that somebody may know), key (name of the column that
--   says in all of them whose record it is)
SELECT
  min(alike) AS union_k,
  coalesce(sum(alike), 0) AS persons,
  coalesce(sum(alike) FILTER (WHERE alike = 1), 0) AS alone
FROM (
  SELECT count(*) AS alike
  FROM (
    SELECT
      who,
      list(DISTINCT struct_pack(release := release, class := class)
        ORDER BY struct_pack(release := release, class := class)) AS classes
    FROM (
      SELECT 1 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(1, len(tbls))]))
      UNION ALL
      SELECT 2 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(2, len(tbls))]))
      UNION ALL
      SELECT 3 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(3, len(tbls))]))
      UNION ALL
      SELECT 4 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(4, len(tbls))]))
      UNION ALL
      SELECT 5 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(5, len(tbls))]))
      UNION ALL
      SELECT 6 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(6, len(tbls))]))
      UNION ALL
      SELECT 7 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(7, len(tbls))]))
      UNION ALL
      SELECT 8 AS release, row(*COLUMNS(lambda c: c = key)) AS who,
        hash(row(*COLUMNS(lambda c: c <> key))) AS class
      FROM (
        SELECT encode(CAST(COLUMNS(lambda c: c = key OR list_contains(cols, c)) AS VARCHAR))
        FROM query_table(tbls[least(8, len(tbls))])))
    WHERE CASE
      WHEN len(tbls) > 8 THEN error('more than 8 releases')
      WHEN NOT list_has_all(flatten([
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(1, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(2, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(3, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(4, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(5, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(6, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(7, len(tbls))]) LIMIT 1),
      (SELECT struct_keys(struct_pack(*COLUMNS(*))) FROM query_table(tbls[least(8, len(tbls))]) LIMIT 1)]), cols)
      THEN error('no table has such a column')
      ELSE true END
    GROUP BY who)
  GROUP BY classes)
