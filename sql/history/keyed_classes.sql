-- title: The classes of every person of several tables that have a key in common
-- source: sqlmicro: what an auditor sees who has the releases and no ledger. Told apart is the text of the values
-- reads: the relations
-- returns: release, who, class, value (0: nobody knows what was averaged); each once
-- params: tables (number, relation, key, columns of each)
{% for number, relation, key, columns in tables %}
SELECT DISTINCT
  {{ number | lit }} AS release,
  CAST(hash({% for column in key %}encode(CAST({{ column.name | ident }} AS VARCHAR)), {% endfor %}true) >> 1 AS BIGINT) AS who,
  CAST(hash({% for column in columns %}encode(CAST({{ column.name | ident }} AS VARCHAR)), {% endfor %}true) >> 1 AS BIGINT)
    AS class,
  0 AS value
FROM {{ relation | ident }}
{{ loop | between("UNION ALL") }}
{% endfor %}
