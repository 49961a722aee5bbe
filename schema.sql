-- The whole schema. Every statement may run again at any time, so this text both sets up a fresh database and brings an
-- older one up to date. The lock makes starts that happen at once take turns; it ends with the batch that took it.
SELECT pg_advisory_xact_lock(7205759403792793);

-- Every version of this text that was applied, by its SHA-256.
CREATE TABLE IF NOT EXISTS gateway_schema (
  version text PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);

-- Work to be done later, where the runtime brings no queue of its own. A row is gone when the work is done.
CREATE TABLE IF NOT EXISTS gateway_queue (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic text NOT NULL,
  -- json, not jsonb: what was sent is delivered to the byte, \u0000 in a string included.
  body json NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- When it may be taken next; taking it moves this to the end of the taker's lease.
  due_at timestamptz NOT NULL DEFAULT now(),
  sent_at timestamptz NOT NULL DEFAULT now(),
  -- Given up after its last attempt, and kept.
  dead_at timestamptz,
  last_error text
);
CREATE INDEX IF NOT EXISTS gateway_queue_due ON gateway_queue (due_at) WHERE dead_at IS NULL;

-- What the admin API configures moves its number with every change, in the change's own statement: isolates watch it.
CREATE TABLE IF NOT EXISTS gateway_revision (
  subject text PRIMARY KEY,
  revision bigint NOT NULL
);

-- Deployments made through the admin API. One with the id of an entry of the configuration file stands in its place.
CREATE TABLE IF NOT EXISTS gateway_model (
  deployment_id text COLLATE "C" PRIMARY KEY,
  model_name text NOT NULL,
  -- json, not jsonb: strings may hold \u0000. Secrets are "[secret]" here.
  gateway_params json NOT NULL,
  model_info json NOT NULL,
  -- The secrets of gateway_params, encrypted under the salt key for this record and its address.
  sealed text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Names that clients call like a model, each for members of the operator's choice.
CREATE TABLE IF NOT EXISTS gateway_route_group (
  name text COLLATE "C" PRIMARY KEY,
  enabled boolean NOT NULL,
  members json NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
