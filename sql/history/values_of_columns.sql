-- title: The values of the classes that single columns of a series get tonight
-- source: sqlmicro; as history/classes_of_columns.sql
-- reads: cohort (row, stratum, the columns as texts)
-- returns: column_name, class, value
-- params: cohort, columns
{% for column in columns %}
SELECT {{ column.name | lit }} AS column_name, min(row) AS class, value
FROM (SELECT row, stratum, {{ column | ident }} AS value FROM {{ cohort | ident }})
GROUP BY stratum, value
{{ loop | between("UNION ALL") }}
{% endfor %}
