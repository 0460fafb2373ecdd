-- title: The number of records of a file and the totals of its numeric columns, which deviations are measured against
-- source: Höhne, SAFE
-- reads: cells
-- returns: one row: records, and for the i-th numeric column its sum total_i and the sum of its absolute values absolute_i
-- params: cells, numeric
SELECT
  sum(n) AS records
{% for column in numeric %}
  , sum(n * CAST({{ column | ident }} AS DOUBLE)) AS total_{{ loop.index }}
  , sum(n * abs(CAST({{ column | ident }} AS DOUBLE))) AS absolute_{{ loop.index }}
{% endfor %}
FROM {{ cells | ident }}
