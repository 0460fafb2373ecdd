-- title: The risk that a record of each class is found by somebody who knows who is in the release
-- source: El Emam & Dankar (2008): prosecutor scenario, 1/f
-- reads: cells
-- returns: the columns, records, measure
-- params: cells, columns
SELECT
  {{ columns | idents }},
  records,
  1 / size AS measure
FROM {{ cells | ident }}
