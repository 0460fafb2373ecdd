-- title: The published combinations whose number of rows is another one than in the night before
-- source: sqlmicro
-- reads: tonight (class, rows), kept (series, release, class, rows, since)
-- returns: class, rows; 0 for a combination that is gone
-- params: tonight, kept, series (its name), first (release of the epoch)
SELECT coalesce(t.class, k.class) AS class, coalesce(t.rows, 0) AS rows
FROM {{ tonight | ident }} AS t
FULL JOIN (
  SELECT class, arg_max(rows, since) AS rows
  FROM {{ kept | ident }}
  WHERE series = {{ series | lit }} AND release >= {{ first }}
  GROUP BY class) AS k ON t.class = k.class
WHERE coalesce(t.rows, 0) <> coalesce(k.rows, 0)
