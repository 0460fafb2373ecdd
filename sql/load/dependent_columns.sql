-- title: How often the values of a key repeat, and how many have more than one value in each of some columns
-- source: Codd (1972), functional dependency
-- reads: relation
-- returns: one row: keys (values of the key, of one column or of several together), records (that have one), repeated
--   (values that occur more than once); for every column how many of these have two values or more
-- params: relation, keys, columns, every (how many values of the key one is taken of)
SELECT
  count(*) AS keys,
  coalesce(sum(times), 0) AS records,
  count(*) FILTER (WHERE times > 1) AS repeated
  {{ columns | listed(", count(*) FILTER (WHERE smallest_{n} IS DISTINCT FROM largest_{n}) AS differing_{n}") }}
FROM (
  SELECT
    count(*) AS times
    {{ columns | listed(", min(r.{name}) AS smallest_{n}, max(r.{name}) AS largest_{n}") }}
  FROM {{ relation | ident }} AS r
  WHERE hash({{ keys | listed("r.{name}") }}) % {{ every | lit }} = 0
  {% for key in keys %}
    AND r.{{ key.name | ident }} IS NOT NULL
  {% endfor %}
  GROUP BY {{ keys | listed("r.{name}") }})
