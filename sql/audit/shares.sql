-- title: The share every sensitive value has in its class and in the whole release
-- source: Li, Li & Venkatasubramanian (2007): what a class tells beyond what the whole table tells
-- reads: members
-- returns: the columns, the sensitive column, records, probability (share in the class), share (in the whole release)
-- params: members, columns, value
WITH counted AS (
  SELECT {{ value | ident }}, sum(records) AS n
  FROM {{ members | ident }}
  GROUP BY ALL)
SELECT
{% for column in columns %}
  m.{{ column | ident }},
{% endfor %}
  m.{{ value | ident }},
  m.records,
  m.size / sum(m.size) OVER (PARTITION BY {{ columns | listed("m.{}") }}) AS probability,
  counted.n / (SELECT sum(n) FROM counted) AS share
FROM {{ members | ident }} AS m
JOIN counted ON m.{{ value | ident }} IS NOT DISTINCT FROM counted.{{ value | ident }}
