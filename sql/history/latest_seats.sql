-- title: Whom a series remembers, by the newest of what it has kept of each
-- source: sqlmicro, as history/latest.sql; who was never seated, has founded nothing and is gone is forgotten
-- reads: kept (series, release, who, seat, here, founded, the columns)
-- returns: the columns
-- params: kept, series (its name), first (release of the epoch), last (release of the last night), columns
SELECT {{ columns | idents }}
FROM {{ kept | ident }}
WHERE series = {{ series | lit }} AND release = {{ last | lit }} AND release >= {{ first }}
  AND (here OR seat <> -1 OR founded <> -1)
UNION ALL
SELECT {{ columns | listed("k.{}") }}
FROM {{ kept | ident }} AS k
ANTI JOIN (SELECT who FROM {{ kept | ident }} WHERE series = {{ series | lit }} AND release = {{ last | lit }}) AS n USING (who)
WHERE k.series = {{ series | lit }} AND k.release >= {{ first }} AND k.release < {{ last | lit }}
  AND (k.here OR k.seat <> -1 OR k.founded <> -1)
