-- title: The records in an order that says nothing
-- source: sqlmicro: record is a hash of what identifies it. Ties in a method go by this order: that of the user's table,
--   which may say who came when, is forgotten here. What a method sorts by can come first, so that it has no sort of its own
-- reads: relation
-- returns: the columns of relation
-- order: the first column, if any, then record, then key_0 where there is one; read by position, when the records are numbered
-- params: relation, first (columns), ties
SELECT *
FROM {{ relation | ident }}
ORDER BY {{ first | listed("{}, ") }}record{% for column in ties %}, {{ column | ident }}{% endfor %}
