-- title: The group of every record, from its position in the sorted order
-- source: Defays & Nanopoulos (1993): groups of k consecutive records
-- reads: sorted, strata
-- returns: the strata, row_id, value, label (the position of the group's first record), position, group_last
-- params: sorted, strata, by, k
SELECT
  {{ by | listed("s.{}, ") }}
  s.row_id,
  s.value,
  CASE
    WHEN s.rowid < t.middle_first THEN s.rowid - (s.rowid - t.first_position) % {{ k }}
    WHEN s.rowid > t.middle_last THEN s.rowid - (s.rowid - t.middle_last - 1) % {{ k }}
    ELSE t.middle_first
  END AS label,
  s.rowid AS position,
  CASE
    WHEN s.rowid BETWEEN t.middle_first AND t.middle_last THEN t.middle_last
    ELSE label + {{ k }} - 1
  END AS group_last
FROM {{ sorted | ident }} AS s
JOIN {{ strata | ident }} AS t
  ON {{ by | same("s", "t") }}
