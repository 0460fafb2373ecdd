-- title: What releases have written of a series, as two numbers for each of its tables: whether it is still what was written
-- source: sqlmicro, as history/digest.sql; one pass over the rows as they are stored, whether newer ones count instead of them
--   or not
-- reads: the tables (series, release, the columns)
-- returns: part (the number of the table), kept (rows), hashes (their sum)
-- params: parts (number, relation, columns), series (its name), first, last (between which releases)
{% for number, relation, columns in parts %}
SELECT
  {{ number | lit }} AS part,
  count(*) AS kept,
  coalesce(sum(hash(release, {{ columns | idents }})), 0) AS hashes
FROM {{ relation | ident }}
WHERE series = {{ series | lit }} AND release BETWEEN {{ first | lit }} AND {{ last | lit }}
{{ loop | between("UNION ALL") }}
{% endfor %}
