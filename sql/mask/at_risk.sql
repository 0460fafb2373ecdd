-- title: The records, or units of records, whose risk is so
-- source: sqlmicro: a unit is at risk if one of its records is
-- reads: measures (row_id, measure), members (row_id, unit)
-- returns: row_id (that of the unit), measure (the largest)
-- params: measures, members, above, at_least, below, at_most (the number that one of them names, in a list)
SELECT
  m.unit AS row_id,
  max(r.measure) AS measure
FROM {{ measures | ident }} AS r
JOIN {{ members | ident }} AS m USING (row_id)
WHERE true
{% for number in above %}
  AND r.measure > {{ number | lit }}
{% endfor %}
{% for number in at_least %}
  AND r.measure >= {{ number | lit }}
{% endfor %}
{% for number in below %}
  AND r.measure < {{ number | lit }}
{% endfor %}
{% for number in at_most %}
  AND r.measure <= {{ number | lit }}
{% endfor %}
GROUP BY m.unit
