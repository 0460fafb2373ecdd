-- title: What a series remembers: the newest of every row that it has kept
-- source: sqlmicro; a night that was taken back leaves what was there before it. What a night before the last one has
--   replaced is gone
-- reads: kept (series, release, the keys and columns)
-- returns: the columns
-- params: kept, series (its name), first (release of the epoch), last (release of the last night), keys, columns
SELECT {{ columns | idents }}
FROM {{ kept | ident }}
WHERE series = {{ series | lit }} AND release = {{ last | lit }} AND release >= {{ first }}
UNION ALL
SELECT {{ columns | listed("k.{}") }}
FROM {{ kept | ident }} AS k
ANTI JOIN (SELECT {{ keys | idents }} FROM {{ kept | ident }} WHERE series = {{ series | lit }} AND release = {{ last | lit }}) AS n
  USING ({{ keys | idents }})
WHERE k.series = {{ series | lit }} AND k.release >= {{ first }} AND k.release < {{ last | lit }}
