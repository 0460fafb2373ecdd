-- title: The combinations of values that occur, and how many records match each, where NULL matches every value
-- source: Templ, Kowarik & Meindl (2015), sdcMicro: a suppressed value may be any; two records match if they agree in
--   every column in which both have a value
-- reads: relation (cells), among (cells: the records to match; the same ones, or the population)
-- returns: the columns, the kept columns, total of every summed column over the records that match, records that have
--   the combination itself, size (records that match)
-- params: relation, among, columns (name and bit of each), kept, summed
WITH askers AS (
  SELECT *, 0{% for column, bit in columns %} + CASE WHEN {{ column | ident }} IS NULL THEN {{ bit | lit }} ELSE 0 END{% endfor +%} AS pattern
  FROM {{ relation | ident }}),
others AS (
  SELECT *, 0{% for column, bit in columns %} + CASE WHEN {{ column | ident }} IS NULL THEN {{ bit | lit }} ELSE 0 END{% endfor +%} AS other
  FROM {{ among | ident }}),
asked AS (
  SELECT DISTINCT
  {% for column, bit in columns %}
    {{ column | ident }},
    CASE WHEN (pattern | other) & {{ bit | lit }} = 0 THEN {{ column | ident }} END AS masked_{{ loop.index }},
  {% endfor %}
    pattern,
    other
  FROM askers, (SELECT DISTINCT other FROM others)),
found AS (
  SELECT
  {% for column, bit in columns %}
    CASE WHEN (pattern | other) & {{ bit | lit }} = 0 THEN {{ column | ident }} END AS masked_{{ loop.index }},
  {% endfor %}
  {% for column in kept %}
    {{ column | ident }},
  {% endfor %}
  {% for column in summed %}
    sum({{ column | ident }}) AS total,
  {% endfor %}
    pattern,
    other,
    sum(records) AS records
  FROM others, (SELECT DISTINCT pattern FROM askers)
  GROUP BY ALL)
SELECT
{% for column, bit in columns %}
  asked.{{ column | ident }},
{% endfor %}
{% for column in kept %}
  found.{{ column | ident }},
{% endfor %}
{% for column in summed %}
  sum(found.{{ column | ident }}) AS total,
{% endfor %}
  CAST(coalesce(sum(found.records) FILTER (WHERE found.other = found.pattern), 0) AS BIGINT) AS records,
  CAST(sum(found.records) AS BIGINT) AS size
FROM asked
JOIN found ON asked.pattern = found.pattern AND asked.other = found.other
{% for column, bit in columns %}
  AND asked.masked_{{ loop.index }} IS NOT DISTINCT FROM found.masked_{{ loop.index }}
{% endfor %}
GROUP BY ALL
