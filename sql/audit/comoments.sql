-- title: Covariance and correlation of pairs of numeric columns
-- source: Hundepool et al. (2012)
-- reads: relation (values)
-- returns: covariance and correlation of every pair, by its number; over the records that have both values
-- params: relation, pairs
SELECT
{% for first, second in pairs %}
  covar_samp({{ first | ident }}, {{ second | ident }}) AS covariance_{{ loop.index }},
  corr({{ first | ident }}, {{ second | ident }}) AS correlation_{{ loop.index }}{% if not loop.last %},{% endif +%}
{% endfor %}
FROM {{ relation | ident }}
