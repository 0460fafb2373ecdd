-- title: What a series remembers of the classes that are published, the newest of every row that it has kept
-- source: sqlmicro, as history/latest.sql
-- reads: kept (series, release, class, the keys and columns), classes (class, last_number: -1 for one that is published)
-- returns: the columns
-- params: kept, classes, series (its name), first (release of the epoch), last (release of the last night), keys, columns
SELECT {{ columns | idents }}
FROM (
  SELECT {{ columns | idents }}
  FROM {{ kept | ident }}
  WHERE series = {{ series | lit }} AND release = {{ last | lit }} AND release >= {{ first }}
  UNION ALL
  SELECT {{ columns | listed("k.{}") }}
  FROM {{ kept | ident }} AS k
  ANTI JOIN (SELECT {{ keys | idents }} FROM {{ kept | ident }} WHERE series = {{ series | lit }} AND release = {{ last | lit }}) AS n
    USING ({{ keys | idents }})
  WHERE k.series = {{ series | lit }} AND k.release >= {{ first }} AND k.release < {{ last | lit }})
WHERE class IN (SELECT class FROM {{ classes | ident }} WHERE last_number = -1)
