-- title: Within how many values of a key each of some columns has more than one value, NULL being one of its own
-- source: Codd (1972), functional dependency
-- reads: relation
-- returns: one row: repeated (values of the key that occur more than once); for every column how many of them have
--   two values or more
-- params: relation, key, columns, every (how many values of the key one is taken of)
SELECT
  count(*) AS repeated
  {{ columns | listed("
  , count(*) FILTER (WHERE smallest_{n} IS DISTINCT FROM largest_{n} OR known_{n} NOT IN (0, times)) AS differing_{n}") }}
FROM (
  SELECT
    count(*) AS times
    {{ columns | listed("
    , min(r.{name}) AS smallest_{n}, max(r.{name}) AS largest_{n}, count(r.{name}) AS known_{n}") }}
  FROM {{ relation | ident }} AS r
  WHERE r.{{ key.name | ident }} IS NOT NULL AND hash(r.{{ key.name | ident }}) % {{ every | lit }} = 0
  GROUP BY r.{{ key.name | ident }})
WHERE times > 1
