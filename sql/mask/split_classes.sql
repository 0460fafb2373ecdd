-- title: How many classes of one level are in more than one class of the next
-- source: Samarati (2001): a level of a hierarchy holds the one below it
-- reads: ladder
-- returns: one row: split
-- params: ladder, lower, upper
SELECT count(*) AS split
FROM (
  SELECT {{ lower | ident }}
  FROM {{ ladder | ident }}
  GROUP BY {{ lower | ident }}
  HAVING count(DISTINCT {{ upper | ident }}) > 1)
