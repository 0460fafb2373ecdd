-- title: Mean, variance and quantiles of numeric columns
-- source: Hundepool et al. (2012): a release is useful where it gives what the original gives
-- reads: relation (values)
-- returns: column_name, records (with a value), mean, variance (n - 1), quantiles (5, 25, 50, 75, 95 %)
-- params: relation, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count({{ column | ident }}) AS records,
  avg({{ column | ident }}) AS mean,
  var_samp({{ column | ident }}) AS variance,
  quantile_cont({{ column | ident }}, [0.05, 0.25, 0.5, 0.75, 0.95]) AS quantiles
FROM {{ relation | ident }}
{{ loop | between("UNION ALL") }}
{% endfor %}
