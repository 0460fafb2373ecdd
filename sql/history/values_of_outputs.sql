-- title: The sensitive values of every class of a release and of the candidates that are published beside it
-- source: sqlmicro: as history/classes_of_outputs.sql
-- reads: release, candidates (column_name, class, value)
-- returns: column_name, class, value
-- params: release, candidates (number and relation of each)
SELECT column_name, class, value FROM {{ release | ident }}
{% for number, relation in candidates %}
UNION ALL
SELECT column_name, CAST(hash({{ number | lit }}, class) >> 1 AS BIGINT) AS class, value FROM {{ relation | ident }}
{% endfor %}
