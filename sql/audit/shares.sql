-- title: The share every sensitive value has in its class and in the table that classes are compared with
-- source: Li, Li & Venkatasubramanian (2007): what a class tells beyond what the whole table tells
-- reads: members, reference
-- returns: the columns, the sensitive column, records, probability (share in the class), share (in the whole table)
-- params: members, reference, columns, value
SELECT
{% for column in columns %}
  m.{{ column | ident }},
{% endfor %}
  m.{{ value | ident }},
  m.records,
  m.size / sum(m.size) OVER (PARTITION BY {{ columns | listed("m.{}") }}) AS probability,
  r.share
FROM {{ members | ident }} AS m
JOIN {{ reference | ident }} AS r ON m.{{ value | ident }} IS NOT DISTINCT FROM r.{{ value | ident }}
