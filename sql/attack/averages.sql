-- title: How many values the mean of several releases recovers, and how many the first alone
-- source: sqlmicro: noise that is drawn anew for every release averages out
-- reads: original, released and the others (values, by row_id)
-- returns: column_name, recovered by the mean (off by at most so many standard deviations of the original), alone (by the
--   first release), records (with a value in all tables)
-- params: original, released, alone (its alias), others (alias, relation), columns, within
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) FILTER (WHERE abs(list_avg([{{ alone | ident }}.{{ column | ident }}{% for alias, relation in others %}, {{ alias | ident }}.{{ column | ident }}{% endfor %}]) - o.{{ column | ident }})
    <= {{ within | lit }} * coalesce(sd, 0)) AS recovered,
  count(*) FILTER (WHERE abs({{ alone | ident }}.{{ column | ident }} - o.{{ column | ident }}) <= {{ within | lit }} * coalesce(sd, 0)) AS alone,
  count(*) AS records
FROM {{ original | ident }} AS o
JOIN {{ released | ident }} AS {{ alone | ident }} USING (row_id)
{% for alias, relation in others %}
JOIN {{ relation | ident }} AS {{ alias | ident }} USING (row_id)
{% endfor %}
CROSS JOIN (SELECT stddev_samp({{ column | ident }}) AS sd FROM {{ original | ident }}) AS spread
WHERE o.{{ column | ident }} IS NOT NULL AND {{ alone | ident }}.{{ column | ident }} IS NOT NULL{% for alias, relation in others %} AND {{ alias | ident }}.{{ column | ident }} IS NOT NULL{% endfor +%}
{{ loop | between("UNION ALL") }}
{% endfor %}
