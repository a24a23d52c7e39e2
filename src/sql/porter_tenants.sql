-- Row-level security: the practice groups that this transaction acts for. `porter.tenant` has their IDs, separated by commas, or *.
-- A transaction that has not said for whom it acts sees nothing; '' is nobody's ID, and what belongs to the operator alone has it.
CREATE OR REPLACE FUNCTION porter_tenants() RETURNS text[] LANGUAGE sql STABLE
AS $$ SELECT array_remove(string_to_array(current_setting('porter.tenant', true), ','), '') $$;
