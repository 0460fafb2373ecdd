-- title: The values of the classes that a series opens tonight, as texts that give the same values again
-- source: sqlmicro; days and microseconds are whole, as they are published
-- reads: representatives (label, the columns)
-- returns: column_name, class, value
-- params: representatives, columns, whole (those of days and microseconds)
SELECT '' AS column_name, CAST(label AS INTEGER) AS class, '' AS value
FROM {{ representatives | ident }}
WHERE false
{% for column in columns %}
UNION ALL
SELECT {{ column.name | lit }}, CAST(label AS INTEGER), CAST({{ column | ident }} AS VARCHAR)
FROM {{ representatives | ident }}
{% endfor %}
{% for column in whole %}
UNION ALL
SELECT {{ column.name | lit }}, CAST(label AS INTEGER), CAST(round_even({{ column | ident }}, 0) AS VARCHAR)
FROM {{ representatives | ident }}
{% endfor %}
