-- Row-level security: the practice groups that this transaction acts for. `porter.tenant` has their IDs, separated by commas, or *.
-- A transaction that has not said for whom it acts sees nothing.
CREATE OR REPLACE FUNCTION porter_tenants() RETURNS text[] LANGUAGE sql STABLE
AS $$ SELECT string_to_array(current_setting('porter.tenant', true), ',') $$;
