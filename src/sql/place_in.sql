-- Where a number stands in a sorted list, or null. By halving: `array_position` goes through the whole list.
CREATE OR REPLACE FUNCTION place_in(no integer, nos integer[]) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
  SELECT CASE WHEN nos[width_bucket(no, nos)] = no THEN width_bucket(no, nos) END
$$;
