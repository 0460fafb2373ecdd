-- title: Number, means and covariances of the variables of a regression
-- source: Schmid, Schneeweiss & Kuechenhoff (2007): what least squares needs; only records that have all values
-- reads: relation (values)
-- returns: records, the mean of every variable and the covariance of every pair, by their numbers
-- params: relation, columns, pairs
SELECT
{% for column in columns %}
  avg({{ column | ident }}) AS mean_{{ loop.index }},
{% endfor %}
{% for first, second in pairs %}
  covar_samp({{ first | ident }}, {{ second | ident }}) AS covariance_{{ loop.index }},
{% endfor %}
  count(*) AS records
FROM {{ relation | ident }}
WHERE NOT (false{% for column in columns %} OR {{ column | ident }} IS NULL{% endfor %})
