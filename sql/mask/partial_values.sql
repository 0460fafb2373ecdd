-- title: The ends of every value as they are, the characters between them hidden
-- source: sqlmicro; a value that has no more characters than are shown is hidden altogether
-- reads: relation
-- returns: row_id, the columns as text
-- params: relation, columns, first_shown, last_shown, character
SELECT
  row_id
{% for column in columns %}
  , CASE WHEN length(CAST({{ column | ident }} AS VARCHAR)) <= {{ first_shown | lit }} + {{ last_shown | lit }}
      THEN repeat({{ character | lit }}, length(CAST({{ column | ident }} AS VARCHAR)))
      ELSE left(CAST({{ column | ident }} AS VARCHAR), {{ first_shown | lit }})
        || repeat({{ character | lit }},
          length(CAST({{ column | ident }} AS VARCHAR)) - {{ first_shown | lit }} - {{ last_shown | lit }})
        || right(CAST({{ column | ident }} AS VARCHAR), {{ last_shown | lit }})
    END AS {{ column | ident }}
{% endfor %}
FROM {{ relation | ident }}
