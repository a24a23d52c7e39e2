-- People who come in through a provider of OpenID Connect, and tokens for when it cannot be reached.

-- A person has no token: whoever the provider says it is comes in, with the role that it says.
ALTER TABLE operators
  ALTER COLUMN token_hash DROP NOT NULL,
  ADD COLUMN kind text NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'person')),
  ADD COLUMN issuer text,
  ADD COLUMN subject text,
  -- Signs in to the console although people come in through the provider.
  ADD COLUMN is_emergency boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT operators_known_by CHECK (CASE kind WHEN 'token' THEN token_hash IS NOT NULL AND issuer IS NULL AND subject IS NULL
                                           ELSE token_hash IS NULL AND issuer IS NOT NULL AND subject IS NOT NULL END);
CREATE UNIQUE INDEX operators_by_subject ON operators (issuer, subject) WHERE kind = 'person';
