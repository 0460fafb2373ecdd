-- title: How many records the release and the original have, and how many of them have a value in each column
-- source: sqlmicro
-- reads: original, released
-- returns: one row: records_before, records_after; for the i-th column present_before_i and present_after_i
-- params: original, released, columns
SELECT
  *
FROM (
  SELECT
    count(*) AS records_before
  {% for column in columns %}
    , count({{ column.name | ident }}) AS present_before_{{ loop.index }}
  {% endfor %}
  FROM {{ original | ident }}) AS o
CROSS JOIN (
  SELECT
    count(*) AS records_after
  {% for column in columns %}
    , count({{ column.name | ident }}) AS present_after_{{ loop.index }}
  {% endfor %}
  FROM {{ released | ident }}) AS r
