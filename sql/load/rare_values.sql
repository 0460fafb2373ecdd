-- title: How many records have a value that fewer than k have
-- source: Samarati (2001), k-anonymity, of one column
-- reads: relation, once for each block of columns
-- returns: a row per column that has a value: place, present (records with a value), rare (those whose value fewer than k
--   have); text under a collation is told apart as it is written, and records without a person are one person's
-- params: relation, blocks (of columns, with their places), who (keys, of one column or several together, of each of which a value must
--   have k as well as of records: persons, households), k
{% for columns, places in blocks %}
SELECT
  place,
  CAST(sum(times) AS BIGINT) AS present,
  CAST(coalesce(sum(times) FILTER (WHERE owners < {{ k }}), 0) AS BIGINT) AS rare
FROM (
  SELECT
    place,
    count(*) AS times,
    least(count(*), count(*){% for key in who %}, count(DISTINCT who_{{ loop.index }}){% endfor %}) AS owners
  FROM (
    SELECT
{% for key in who %}
      hash({{ key | listed("{name}") }}) AS who_{{ loop.index }},
{% endfor %}
      unnest({{ places | lit }}) AS place,
      unnest([{{ columns | listed("md5(CAST({name} AS VARCHAR))") }}]) AS value
    FROM {{ relation | ident }})
  WHERE value IS NOT NULL
  GROUP BY place, value)
GROUP BY place
{{ loop | between("UNION ALL") }}
{% endfor %}
