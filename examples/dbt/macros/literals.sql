{% macro text(value) -%}
  '{{ value | string | replace("'", "''") }}'
{%- endmacro %}

{% macro names(values) -%}
  [{% for value in values %}{{ sqlmicro.text(value) }}{% if not loop.last %}, {% endif %}{% endfor %}]
{%- endmacro %}

{% macro number(value) -%}
  {%- if value is not number -%}{{ exceptions.raise_compiler_error("a threshold must be a number") }}{%- endif -%}
  {{ value }}
{%- endmacro %}

{# The name of a table as text: the macros look it up. A model with `where` or `limit` is no table. #}
{% macro name(relation) -%}
  {%- if relation is string -%}
    {{ exceptions.raise_compiler_error("a test of a release reads a whole table: leave out where and limit") }}
  {%- endif -%}
  {{ sqlmicro.text(relation) }}
{%- endmacro %}
