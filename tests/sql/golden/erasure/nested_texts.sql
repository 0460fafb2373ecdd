-- title: The texts within a column of a nested type, names of fields and keys of maps among them
-- source: none needed, this is counting
-- reads: relation
-- returns: text
-- params: relation, column
SELECT DISTINCT unnest([
  CASE WHEN tree.fullkey NOT LIKE '%]' THEN tree.key END,
  CASE WHEN tree.type = 'VARCHAR' THEN tree.atom ->> '$' END]) AS text
FROM
  (SELECT to_json("c") AS document FROM "staging"."relation") AS documents,
  json_tree(document) AS tree
