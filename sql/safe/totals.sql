-- title: What the deviations of a file are measured against
-- source: Höhne, SAFE
-- reads: cells
-- returns: one row: records, and for the i-th numeric column the sum of its absolute values absolute_i
-- params: cells, numeric
SELECT
  CAST(sum(n) AS BIGINT) AS records
{% for column in numeric %}
  , sum(n * abs(CAST({{ column | ident }} AS DOUBLE))) AS absolute_{{ loop.index }}
{% endfor %}
FROM {{ cells | ident }}
