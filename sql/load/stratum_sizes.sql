-- title: How many records every stratum has, and how many values the nominal columns
-- source: sqlmicro; a kernel gets the records of some strata at a time, but the values of all say how they are compared
-- reads: features (load/features.sql)
-- returns: in the order of stratum: records, and the last number of a value of every nominal column
-- params: features, nominal
SELECT
  count(*) AS records
{% for column in nominal %}
  , max({{ column | ident }}) AS {{ column | ident }}
{% endfor %}
FROM {{ features | ident }}
GROUP BY stratum
ORDER BY stratum
