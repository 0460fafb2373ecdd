-- title: The number that a run gave to every record
-- source: sqlmicro: the order of load/typed.sql with a row key
-- reads: relation (the table the run read)
-- returns: row_id from 0, of the records in the order of the table
-- params: relation, row_key
SELECT row_id
FROM (
  SELECT
    row_number() OVER () AS place,
    row_number() OVER (ORDER BY {% for column in row_key %}{{ column.name | ident }}{% if not loop.last %}, {% endif %}{% endfor %}) - 1 AS row_id
  FROM {{ relation | ident }})
ORDER BY place
