-- title: The group of every record, from its position in the sorted order
-- source: Defays & Nanopoulos (1993): groups of k consecutive records
-- reads: sorted, strata
-- returns: the strata, row_id, value, label (the position of the group's first record), position, group_last
-- params: sorted, strata, by, k
SELECT
  s.row_id,
  s.value,
  CASE
    WHEN s.rowid < t.middle_first THEN s.rowid - (s.rowid - t.first_position) % 3
    WHEN s.rowid > t.middle_last THEN s.rowid - (s.rowid - t.middle_last - 1) % 3
    ELSE t.middle_first
  END AS label,
  s.rowid AS position,
  CASE
    WHEN s.rowid BETWEEN t.middle_first AND t.middle_last THEN t.middle_last
    ELSE label + 3 - 1
  END AS group_last
FROM "staging"."ordered" AS s
JOIN "staging"."strata" AS t
  ON true
