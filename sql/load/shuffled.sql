-- title: The records in an order that says nothing
-- source: sqlmicro: record is a hash of what identifies it. Ties in a method go by this order: that of the user's table,
--   which may say who came when, is forgotten here
-- reads: relation
-- returns: the columns of relation
-- order: record, then key_0 where there is one; read by position, when the records are numbered
-- params: relation, ties
SELECT *
FROM {{ relation | ident }}
ORDER BY record{% for column in ties %}, {{ column | ident }}{% endfor %}
