-- title: How many values the mean of several releases recovers, and how many the first alone
-- source: sqlmicro: noise that is drawn anew for every release averages out
-- reads: original, and the releases (values, by row_id)
-- returns: column_name, recovered by the mean (off by at most so many standard deviations of the original), alone (by the
--   first release), records (with a value in all tables)
-- params: original, releases (alias, relation), alone (alias of the first), columns, within
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) FILTER (WHERE abs(list_avg([{% for alias, relation in releases %}{{ alias | ident }}.{{ column | ident }}{% if not loop.last %}, {% endif %}{% endfor %}]) - o.{{ column | ident }})
    <= {{ within | lit }} * coalesce(sd, 0)) AS recovered,
  count(*) FILTER (WHERE abs({{ alone | ident }}.{{ column | ident }} - o.{{ column | ident }}) <= {{ within | lit }} * coalesce(sd, 0)) AS alone,
  count(*) AS records
FROM {{ original | ident }} AS o
{% for alias, relation in releases %}
JOIN {{ relation | ident }} AS {{ alias | ident }} USING (row_id)
{% endfor %}
CROSS JOIN (SELECT stddev_samp({{ column | ident }}) AS sd FROM {{ original | ident }}) AS spread
WHERE o.{{ column | ident }} IS NOT NULL{% for alias, relation in releases %} AND {{ alias | ident }}.{{ column | ident }} IS NOT NULL{% endfor +%}
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
