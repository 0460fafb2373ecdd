-- title: How many sensitive values a person may have after all releases of the same people, at least
-- source: Xiao & Tao (2007), m-invariance: of the values of a person's class in one release only those are left that her
--   classes in the others have too
-- reads: members (release, who, class), class_values (release, column_name, class, value)
-- returns: column_name, persons, fewest, below (persons with fewer than k left)
-- params: members, class_values, k
SELECT
  column_name,
  count(*) AS persons,
  min(kept) AS fewest,
  count(*) FILTER (WHERE kept < {{ k }}) AS below
FROM (
  SELECT who, column_name, count(*) FILTER (WHERE found = releases) AS kept
  FROM (
    SELECT who, column_name, value, count(DISTINCT release) AS found, max(releases) AS releases
    FROM (
      SELECT m.who, m.release, v.column_name, v.value, n.releases
      FROM {{ members | ident }} AS m
      JOIN {{ class_values | ident }} AS v ON m.release = v.release AND m.class = v.class
      JOIN (
        SELECT m.who, v.column_name, count(DISTINCT m.release) AS releases
        FROM {{ members | ident }} AS m
        JOIN (SELECT DISTINCT release, column_name FROM {{ class_values | ident }}) AS v ON m.release = v.release
        GROUP BY m.who, v.column_name) AS n ON m.who = n.who AND v.column_name = n.column_name)
    GROUP BY who, column_name, value)
  GROUP BY who, column_name)
GROUP BY column_name
ORDER BY column_name
