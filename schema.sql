-- The whole schema. Every statement may run again at any time, so this text both sets up a fresh database and brings an
-- older one up to date. The lock makes starts that happen at once take turns; it ends with the batch that took it.
SELECT pg_advisory_xact_lock(7205759403792793);

-- Every version of this text that was applied, by its SHA-256.
CREATE TABLE IF NOT EXISTS gateway_schema (
  version text PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
);

-- The fingerprint of the salt key, which all gateways on one database share.
CREATE TABLE IF NOT EXISTS gateway_installation (
  name text PRIMARY KEY,
  value text NOT NULL
);

-- The queue of runtimes that have none. A row is deleted when its work is done.
CREATE TABLE IF NOT EXISTS gateway_queue (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic text NOT NULL,
  -- json, not jsonb: what was sent is delivered to the byte, \u0000 in a string included.
  body json NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- When it may be claimed next; a claim moves this to the end of its lease.
  due_at timestamptz NOT NULL DEFAULT now(),
  sent_at timestamptz NOT NULL DEFAULT now(),
  -- Dead-lettered after its last attempt.
  dead_at timestamptz,
  last_error text
);
CREATE INDEX IF NOT EXISTS gateway_queue_due ON gateway_queue (due_at) WHERE dead_at IS NULL;

-- The revision of the routing records. Every change increments it in its own statement; processes poll it.
CREATE TABLE IF NOT EXISTS gateway_revision (
  subject text PRIMARY KEY,
  revision bigint NOT NULL
);

-- Secrets of providers' accounts that deployments share by name.
CREATE TABLE IF NOT EXISTS gateway_credential (
  name text COLLATE "C" PRIMARY KEY,
  provider text NOT NULL,
  -- What deployments get of it. Secrets are "[secret]" here.
  gateway_params json NOT NULL,
  -- The secrets of gateway_params, encrypted under the salt key for this record and its address.
  sealed text NOT NULL,
  -- When its secrets changed last.
  rotated_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Deployments of the admin API. One with the id of an entry of the configuration file replaces that entry.
CREATE TABLE IF NOT EXISTS gateway_model (
  deployment_id text COLLATE "C" PRIMARY KEY,
  model_name text NOT NULL,
  -- json, not jsonb: strings may hold \u0000. Secrets are "[secret]" here.
  gateway_params json NOT NULL,
  model_info json NOT NULL,
  -- The secrets of gateway_params, encrypted under the salt key for this record and its address.
  sealed text NOT NULL,
  -- gateway_params.credential.
  credential text COLLATE "C" REFERENCES gateway_credential (name),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute
      WHERE attrelid = 'gateway_model'::regclass AND attname = 'credential') THEN
    ALTER TABLE gateway_model ADD COLUMN credential text COLLATE "C" REFERENCES gateway_credential (name);
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_model_credential ON gateway_model (credential) WHERE credential IS NOT NULL;

-- Deployments that get no new calls until they are resumed, of the configuration file too.
CREATE TABLE IF NOT EXISTS gateway_drained_deployment (
  deployment_id text COLLATE "C" PRIMARY KEY,
  drained_at timestamptz NOT NULL DEFAULT now()
);

-- Servers of managed tools. One with the key of a server of the configuration file replaces that server.
CREATE TABLE IF NOT EXISTS gateway_mcp_server (
  server_key text COLLATE "C" PRIMARY KEY,
  -- Its address and how it is asked. Secrets are "[secret]" here.
  settings json NOT NULL,
  -- The secrets of settings, encrypted under the salt key for this record and its address.
  sealed text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Route groups: names that clients call like a model, each with members.
CREATE TABLE IF NOT EXISTS gateway_route_group (
  name text COLLATE "C" PRIMARY KEY,
  enabled boolean NOT NULL,
  members json NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Versions of the records that callers are built from. They share one sequence, so that a record that reuses the id of a
-- deleted one is newer than any cached version of that.
CREATE SEQUENCE IF NOT EXISTS gateway_record_version;

-- Organizations contain teams, teams contain keys; users are people or programs. A limit or budget that is null is none,
-- and 0 blocks. Money is US dollars.
CREATE TABLE IF NOT EXISTS gateway_organization (
  organization_id text COLLATE "C" PRIMARY KEY,
  organization_name text,
  rpm_limit bigint, tpm_limit bigint, rph_limit bigint, rpd_limit bigint, tpd_limit bigint,
  max_budget numeric, soft_budget numeric,
  -- 24h, 30d, 1mo; with null the budget never resets. The first period begins at budget_started_at.
  budget_duration text,
  budget_started_at timestamptz NOT NULL DEFAULT now(),
  -- restrict: only bound targets may be called; inherit: bindings have no effect; null: restrict as soon as there is a
  -- binding.
  target_mode text CHECK (target_mode IN ('inherit', 'restrict')),
  -- json, not jsonb: strings may hold \u0000.
  metadata json NOT NULL DEFAULT '{}',
  version bigint NOT NULL DEFAULT nextval('gateway_record_version'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS gateway_team (
  team_id text COLLATE "C" PRIMARY KEY,
  team_name text,
  organization_id text COLLATE "C" REFERENCES gateway_organization (organization_id),
  rpm_limit bigint, tpm_limit bigint, rph_limit bigint, rpd_limit bigint, tpd_limit bigint,
  max_budget numeric, soft_budget numeric, budget_duration text,
  budget_started_at timestamptz NOT NULL DEFAULT now(),
  -- Budgets in US dollars by model name, over the same periods.
  model_max_budget json NOT NULL DEFAULT '{}',
  target_mode text CHECK (target_mode IN ('inherit', 'restrict')),
  self_service_keys_enabled boolean NOT NULL DEFAULT false,
  self_service_max_keys_per_user integer,
  self_service_budget_ceiling numeric,
  self_service_require_expiry boolean NOT NULL DEFAULT false,
  self_service_max_expiry_days integer,
  turn_off_message_logging boolean NOT NULL DEFAULT false,
  metadata json NOT NULL DEFAULT '{}',
  version bigint NOT NULL DEFAULT nextval('gateway_record_version'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute
      WHERE attrelid = 'gateway_team'::regclass AND attname = 'turn_off_message_logging') THEN
    ALTER TABLE gateway_team ADD COLUMN turn_off_message_logging boolean NOT NULL DEFAULT false;
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_team_organization ON gateway_team (organization_id);

-- The user of the running gateway: budgets and limits. user_role is profile metadata, never a right.
CREATE TABLE IF NOT EXISTS gateway_user (
  user_id text COLLATE "C" PRIMARY KEY,
  user_email text,
  user_name text,
  user_role text,
  rpm_limit bigint, tpm_limit bigint, rph_limit bigint, rpd_limit bigint, tpd_limit bigint,
  max_budget numeric, soft_budget numeric, budget_duration text,
  budget_started_at timestamptz NOT NULL DEFAULT now(),
  target_mode text CHECK (target_mode IN ('inherit', 'restrict')),
  metadata json NOT NULL DEFAULT '{}',
  version bigint NOT NULL DEFAULT nextval('gateway_record_version'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- The members of organizations and teams, with their roles.
CREATE TABLE IF NOT EXISTS gateway_membership (
  scope_type text NOT NULL CHECK (scope_type IN ('organization', 'team')),
  scope_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES gateway_user (user_id) ON DELETE CASCADE,
  role text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope_type, scope_id, user_id)
);
CREATE INDEX IF NOT EXISTS gateway_membership_user ON gateway_membership (user_id);

CREATE TABLE IF NOT EXISTS gateway_key (
  key_id text COLLATE "C" PRIMARY KEY,
  -- HMAC-SHA256 of the key under the salt key, by which a key is looked up.
  key_hash text COLLATE "C" NOT NULL UNIQUE,
  key_name text,
  team_id text COLLATE "C" REFERENCES gateway_team (team_id),
  organization_id text COLLATE "C" REFERENCES gateway_organization (organization_id),
  user_id text COLLATE "C" REFERENCES gateway_user (user_id),
  -- The person who made it for themselves.
  owner_account_id text COLLATE "C",
  rpm_limit bigint, tpm_limit bigint, rph_limit bigint, rpd_limit bigint, tpd_limit bigint,
  max_parallel_requests bigint,
  max_budget numeric, soft_budget numeric, budget_duration text,
  budget_started_at timestamptz NOT NULL DEFAULT now(),
  model_max_budget json NOT NULL DEFAULT '{}',
  target_mode text CHECK (target_mode IN ('inherit', 'restrict')),
  -- Addresses and CIDR ranges from which the key may be used; null allows all.
  allowed_ips json,
  -- The content of its calls is kept out of every sink; a client may ask for that by a header.
  turn_off_message_logging boolean NOT NULL DEFAULT false,
  no_log_allowed boolean NOT NULL DEFAULT true,
  expires_at timestamptz,
  revoked_at timestamptz,
  metadata json NOT NULL DEFAULT '{}',
  version bigint NOT NULL DEFAULT nextval('gateway_record_version'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
-- Earlier builds kept the keys of a deleted user, without the user's limits.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'gateway_key'::regclass
      AND conname = 'gateway_key_user_id_fkey' AND confdeltype = 'n') THEN
    ALTER TABLE gateway_key DROP CONSTRAINT gateway_key_user_id_fkey,
      ADD CONSTRAINT gateway_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES gateway_user (user_id);
  END IF;
END $$;
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute
      WHERE attrelid = 'gateway_key'::regclass AND attname = 'turn_off_message_logging') THEN
    ALTER TABLE gateway_key ADD COLUMN turn_off_message_logging boolean NOT NULL DEFAULT false,
      ADD COLUMN no_log_allowed boolean NOT NULL DEFAULT true;
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_key_team ON gateway_key (team_id);
CREATE INDEX IF NOT EXISTS gateway_key_organization ON gateway_key (organization_id);
CREATE INDEX IF NOT EXISTS gateway_key_user ON gateway_key (user_id);
CREATE INDEX IF NOT EXISTS gateway_key_owner ON gateway_key (owner_account_id);
CREATE INDEX IF NOT EXISTS gateway_key_end ON gateway_key (expires_at, key_id)
  WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX IF NOT EXISTS gateway_key_target_mode ON gateway_key (key_id) WHERE target_mode IS NOT NULL;

-- What lists of these records go by, and the subjects of their budgets, so that a list can go by what they have spent.
CREATE INDEX IF NOT EXISTS gateway_organization_name ON gateway_organization
  ((left(lower(coalesce(organization_name, organization_id)), 200) COLLATE "C"), organization_id);
CREATE INDEX IF NOT EXISTS gateway_organization_created ON gateway_organization (created_at, organization_id);
CREATE INDEX IF NOT EXISTS gateway_organization_subject ON gateway_organization ((
  'org:' || replace(replace(replace(replace(organization_id, '@', '%40'), '+', '%2B'), ':', '%3A'), '|', '%7C') || coalesce('@' || budget_duration, '')));
CREATE INDEX IF NOT EXISTS gateway_team_name ON gateway_team
  ((left(lower(coalesce(team_name, team_id)), 200) COLLATE "C"), team_id);
CREATE INDEX IF NOT EXISTS gateway_team_created ON gateway_team (created_at, team_id);
CREATE INDEX IF NOT EXISTS gateway_team_subject ON gateway_team ((
  'team:' || replace(replace(replace(replace(team_id, '@', '%40'), '+', '%2B'), ':', '%3A'), '|', '%7C') || coalesce('@' || budget_duration, '')));
CREATE INDEX IF NOT EXISTS gateway_user_name ON gateway_user
  ((left(lower(coalesce(user_name, user_id)), 200) COLLATE "C"), user_id);
CREATE INDEX IF NOT EXISTS gateway_user_created ON gateway_user (created_at, user_id);
CREATE INDEX IF NOT EXISTS gateway_user_subject ON gateway_user ((
  'user:' || replace(replace(replace(replace(user_id, '@', '%40'), '+', '%2B'), ':', '%3A'), '|', '%7C') || coalesce('@' || budget_duration, '')));
CREATE INDEX IF NOT EXISTS gateway_key_name ON gateway_key
  ((left(lower(coalesce(key_name, key_id)), 200) COLLATE "C"), key_id);
CREATE INDEX IF NOT EXISTS gateway_key_created ON gateway_key (created_at, key_id);
CREATE INDEX IF NOT EXISTS gateway_key_subject ON gateway_key ((
  'key:' || replace(replace(replace(replace(key_id, '@', '%40'), '+', '%2B'), ':', '%3A'), '|', '%7C') || coalesce('@' || budget_duration, '')));

-- A person's way in. What limits and bills them, and what they are a member of, hangs on their user row.
CREATE TABLE IF NOT EXISTS gateway_account (
  account_id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL UNIQUE REFERENCES gateway_user (user_id),
  email text NOT NULL,
  -- The address as accounts are found by it: lower case, its domain in punycode. One account an address.
  email_key text COLLATE "C" NOT NULL UNIQUE,
  -- The person was shown to read the mail of the address, or the operator vouches for it. Single sign-on links to no other.
  email_proved boolean NOT NULL DEFAULT false,
  platform_role text NOT NULL CHECK (platform_role IN ('platform_admin', 'org_user')),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'disabled')),
  -- scrypt with its parameters and salt; null: the account has no password.
  password_hash text,
  password_changed_at timestamptz,
  must_change_password boolean NOT NULL DEFAULT false,
  -- The secret of the second factor, encrypted under the salt key. It counts from totp_confirmed_at on.
  totp_sealed text,
  totp_confirmed_at timestamptz,
  -- The last time step that was accepted; each is accepted once.
  totp_step bigint NOT NULL DEFAULT 0,
  last_login_at timestamptz,
  version bigint NOT NULL DEFAULT nextval('gateway_record_version'),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute
      WHERE attrelid = 'gateway_account'::regclass AND attname = 'email_proved') THEN
    ALTER TABLE gateway_account ADD COLUMN email_proved boolean NOT NULL DEFAULT false;
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_account_admin ON gateway_account (account_id) WHERE platform_role = 'platform_admin';

-- How an identity provider knows a person: by the subject, never by the address.
CREATE TABLE IF NOT EXISTS gateway_account_identity (
  provider text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL REFERENCES gateway_account (account_id) ON DELETE CASCADE,
  -- As the provider told it at the last login.
  email text,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_login_at timestamptz,
  PRIMARY KEY (provider, subject)
);
CREATE INDEX IF NOT EXISTS gateway_account_identity_account ON gateway_account_identity (account_id);

-- Codes that stand in for a second factor that is lost, each once. A used one is gone.
CREATE TABLE IF NOT EXISTS gateway_recovery_code (
  account_id text COLLATE "C" NOT NULL REFERENCES gateway_account (account_id) ON DELETE CASCADE,
  code_hash text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, code_hash)
);

-- Browser sessions. One without an account was opened with the master key.
CREATE TABLE IF NOT EXISTS gateway_session (
  session_id text COLLATE "C" PRIMARY KEY,
  -- HMAC-SHA256 of the cookie's value under the salt key.
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  account_id text COLLATE "C" REFERENCES gateway_account (account_id) ON DELETE CASCADE,
  -- password, sso, master_key, invitation, bootstrap
  method text NOT NULL,
  -- The second factor was proved in this session.
  mfa_verified boolean NOT NULL DEFAULT false,
  ip text,
  user_agent text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Written every few minutes of use.
  last_used_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  version bigint NOT NULL DEFAULT nextval('gateway_record_version')
);
CREATE INDEX IF NOT EXISTS gateway_session_account ON gateway_session (account_id, created_at);
CREATE INDEX IF NOT EXISTS gateway_session_expires ON gateway_session (expires_at);

-- Single-use tokens that reset a password.
CREATE TABLE IF NOT EXISTS gateway_password_reset (
  token_hash text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL REFERENCES gateway_account (account_id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX IF NOT EXISTS gateway_password_reset_account ON gateway_password_reset (account_id);
CREATE INDEX IF NOT EXISTS gateway_password_reset_expires ON gateway_password_reset (expires_at);

-- Access that somebody gets when they accept it.
CREATE TABLE IF NOT EXISTS gateway_invitation (
  invitation_id text COLLATE "C" PRIMARY KEY,
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  email text NOT NULL,
  email_key text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" REFERENCES gateway_organization (organization_id) ON DELETE CASCADE,
  organization_role text,
  team_id text COLLATE "C" REFERENCES gateway_team (team_id) ON DELETE CASCADE,
  team_role text,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'accepted', 'cancelled')),
  -- The account that invited; null: the master key.
  invited_by text COLLATE "C",
  -- The e-mail that carried its link last.
  email_id text COLLATE "C",
  accepted_by text COLLATE "C",
  accepted_at timestamptz,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute
      WHERE attrelid = 'gateway_invitation'::regclass AND attname = 'email_id') THEN
    ALTER TABLE gateway_invitation ADD COLUMN email_id text COLLATE "C";
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_invitation_email ON gateway_invitation (email_key);
CREATE INDEX IF NOT EXISTS gateway_invitation_organization ON gateway_invitation (organization_id);
CREATE INDEX IF NOT EXISTS gateway_invitation_team ON gateway_invitation (team_id);

-- E-mails to be sent, and what became of them.
CREATE TABLE IF NOT EXISTS gateway_email (
  email_id text COLLATE "C" PRIMARY KEY,
  -- invitation, password_reset
  kind text NOT NULL,
  recipient text NOT NULL,
  -- Subject and bodies, encrypted under the salt key: links in them open accounts. null: it was sent, or given up.
  sealed text,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed')),
  -- How often a process has set out to send it.
  attempts integer NOT NULL DEFAULT 0,
  -- When it may be sent; while a process sends it, when another one may.
  due_at timestamptz NOT NULL DEFAULT now(),
  last_error text,
  organization_id text COLLATE "C",
  created_at timestamptz NOT NULL DEFAULT now(),
  sent_at timestamptz
);
CREATE INDEX IF NOT EXISTS gateway_email_due ON gateway_email (due_at) WHERE state = 'queued';
CREATE INDEX IF NOT EXISTS gateway_email_time ON gateway_email (created_at, email_id);

-- Bindings of callable targets: models and route groups (kind target), all models with a label (kind access_group), and
-- servers of tools (kind mcp_server). Models and servers are restricted apart: a level without a binding of the one or
-- the other and without a target_mode does not restrict it.
CREATE TABLE IF NOT EXISTS gateway_callable_binding (
  scope_type text NOT NULL CHECK (scope_type IN ('organization', 'team', 'user', 'api_key')),
  scope_id text COLLATE "C" NOT NULL,
  callable_kind text NOT NULL DEFAULT 'target' CHECK (callable_kind IN ('target', 'access_group', 'mcp_server')),
  callable_key text COLLATE "C" NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  binding_id text COLLATE "C" NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope_type, scope_id, callable_kind, callable_key)
);
-- Earlier builds had no servers of tools.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'gateway_callable_binding'::regclass
      AND conname = 'gateway_callable_binding_callable_kind_check'
      AND pg_get_constraintdef(oid) NOT LIKE '%mcp_server%') THEN
    ALTER TABLE gateway_callable_binding DROP CONSTRAINT gateway_callable_binding_callable_kind_check,
      ADD CONSTRAINT gateway_callable_binding_callable_kind_check
        CHECK (callable_kind IN ('target', 'access_group', 'mcp_server'));
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_callable_binding_key ON gateway_callable_binding (callable_key, binding_id);

-- Gateways that serve meanwhile wait until the end of this text. The tables that calls are written to are locked in the
-- order in which a write of calls does that: in another order each would wait for the other.
DO $$ DECLARE
  written text;
BEGIN
  FOREACH written IN ARRAY ARRAY['gateway_spend', 'gateway_spend_tag', 'gateway_spend_past', 'gateway_spend_fold',
    'gateway_spend_folded', 'gateway_key_use', 'gateway_budget', 'gateway_spend_total', 'gateway_spend_rollup',
    'gateway_spend_served', 'gateway_spend_tag_rollup', 'gateway_spend_key_day'] LOOP
    IF to_regclass(written) IS NOT NULL THEN
      EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', written);
    END IF;
  END LOOP;
END $$;

-- The spend of every budget in each of its periods, in nano-dollars. The shared store has a copy for admission, which is
-- seeded from here.
CREATE TABLE IF NOT EXISTS gateway_budget (
  subject text COLLATE "C" NOT NULL,
  -- The begin of the period; '' if the budget never resets.
  period text COLLATE "C" NOT NULL,
  spent_nano numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (subject, period)
);
-- The limits of which operators were told last that the period has passed them.
ALTER TABLE gateway_budget ADD COLUMN IF NOT EXISTS told_soft_nano numeric;
ALTER TABLE gateway_budget ADD COLUMN IF NOT EXISTS told_exceeded_nano numeric;
-- The highest spend of each level, whatever its period.
CREATE INDEX IF NOT EXISTS gateway_budget_spent ON gateway_budget (split_part(subject, ':', 1), spent_nano);

-- The progress of filling tables that are newer than the ledger from which they are derived. This is written before the
-- ledger is created: without an earlier ledger there is nothing to fill.
CREATE TABLE IF NOT EXISTS gateway_backfill (
  target text COLLATE "C" PRIMARY KEY,
  begun_at timestamptz NOT NULL DEFAULT now(),
  -- Everything up to this time is filled; null before the first step.
  filled_to timestamptz,
  -- When everything before begun_at was filled.
  filled_at timestamptz
);
INSERT INTO gateway_backfill (target, filled_to, filled_at)
  SELECT target, at + interval '1 day', at
  FROM (VALUES ('gateway_spend_total'), ('gateway_spend_tag'), ('gateway_spend_key_day'), ('gateway_spend_served'))
      AS derived (target),
    (SELECT CASE WHEN to_regclass('gateway_spend') IS NULL THEN now() END) AS fresh (at)
  ON CONFLICT DO NOTHING;

-- The ledger: one row for every model call, whatever its ending. call_id makes writes idempotent.
CREATE TABLE IF NOT EXISTS gateway_spend (
  call_id text COLLATE "C" PRIMARY KEY,
  -- When the call ended.
  at timestamptz NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  endpoint text NOT NULL,
  mode text NOT NULL,
  requested_model text NOT NULL,
  -- The model, deployment and provider that served the call. Throughout this table '' means none.
  model text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  batch_id text COLLATE "C" NOT NULL DEFAULT '',
  tags text[] NOT NULL,
  streamed boolean NOT NULL,
  -- answered, failed, truncated, client_closed
  ending text COLLATE "C" NOT NULL,
  status integer NOT NULL,
  error_type text NOT NULL,
  -- hit, miss, off
  cache text NOT NULL,
  attempts integer NOT NULL,
  -- Deployments whose cut answer another one continued.
  rescued integer NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_creation_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  images bigint NOT NULL,
  audio_seconds double precision NOT NULL,
  characters bigint NOT NULL,
  rerank_units bigint NOT NULL,
  -- The provider reported no usage, so it was estimated.
  estimated boolean NOT NULL,
  -- Nano-dollars. null: the price was unknown.
  cost_nano bigint,
  saved_nano bigint NOT NULL,
  overhead_ms double precision NOT NULL,
  first_token_ms double precision,
  upstream_ms double precision,
  total_ms double precision NOT NULL
);
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'gateway_spend'::regclass AND attname = 'batch_id') THEN
    ALTER TABLE gateway_spend ADD COLUMN batch_id text COLLATE "C" NOT NULL DEFAULT '';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'gateway_spend'::regclass AND attname = 'prompt') THEN
    ALTER TABLE gateway_spend ADD COLUMN prompt text COLLATE "C" NOT NULL DEFAULT '';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'gateway_spend'::regclass AND attname = 'detail') THEN
    ALTER TABLE gateway_spend
      -- An attempt failed and another one followed.
      ADD COLUMN failed_over boolean NOT NULL DEFAULT false,
      -- The attempts and tool calls, where there is more to tell of them than the other columns say.
      ADD COLUMN detail json;
  END IF;
END $$;
-- Every filter of the log has an index. The indexes do not contain call_id, which halves their size and cost: the few calls
-- of one time are sorted when they are read.
CREATE INDEX IF NOT EXISTS gateway_spend_at ON gateway_spend (at);
CREATE INDEX IF NOT EXISTS gateway_spend_key ON gateway_spend (key_id, at);
CREATE INDEX IF NOT EXISTS gateway_spend_team ON gateway_spend (team_id, at) WHERE team_id <> '';
CREATE INDEX IF NOT EXISTS gateway_spend_organization ON gateway_spend (organization_id, at) WHERE organization_id <> '';
CREATE INDEX IF NOT EXISTS gateway_spend_user ON gateway_spend (user_id, at) WHERE user_id <> '';
CREATE INDEX IF NOT EXISTS gateway_spend_batch ON gateway_spend (batch_id, at) WHERE batch_id <> '';
CREATE INDEX IF NOT EXISTS gateway_spend_prompt ON gateway_spend (prompt, at) WHERE prompt <> '';
CREATE INDEX IF NOT EXISTS gateway_spend_model ON gateway_spend (model, at);
CREATE INDEX IF NOT EXISTS gateway_spend_deployment ON gateway_spend (deployment, at);
CREATE INDEX IF NOT EXISTS gateway_spend_provider ON gateway_spend (provider, at);
CREATE INDEX IF NOT EXISTS gateway_spend_request ON gateway_spend (request_id);
CREATE INDEX IF NOT EXISTS gateway_spend_ending ON gateway_spend (ending, at) WHERE ending <> 'answered';
CREATE INDEX IF NOT EXISTS gateway_spend_status ON gateway_spend (status, at) WHERE status <> 200;
CREATE INDEX IF NOT EXISTS gateway_spend_failed_over ON gateway_spend (at) WHERE failed_over;
CREATE INDEX IF NOT EXISTS gateway_spend_error ON gateway_spend (error_type, at) WHERE error_type <> '';
CREATE INDEX IF NOT EXISTS gateway_spend_refused ON gateway_spend (at) WHERE ending = 'failed' AND attempts = 0;
CREATE INDEX IF NOT EXISTS gateway_spend_unpriced ON gateway_spend (at) WHERE cost_nano IS NULL;
-- The rest of these three is read by time: an index of it would cost every call.
CREATE INDEX IF NOT EXISTS gateway_spend_endpoint ON gateway_spend (endpoint, at) WHERE endpoint <> '/v1/chat/completions';
CREATE INDEX IF NOT EXISTS gateway_spend_cached ON gateway_spend (at) WHERE cache = 'hit';
CREATE INDEX IF NOT EXISTS gateway_spend_slow ON gateway_spend (at) WHERE total_ms >= 10000;

-- The calls of each tag in the order of the log, because an index over lists of tags has no order.
CREATE TABLE IF NOT EXISTS gateway_spend_tag (
  tag text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (tag, at, call_id)
);

-- How often model calls of known callers were refused, by minute, as each process or isolate has counted them: no row for
-- each, so that any number of refused calls takes little space. A count only grows, so that the highest one written holds.
CREATE TABLE IF NOT EXISTS gateway_refusal (
  minute timestamptz NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  endpoint text COLLATE "C" NOT NULL,
  code text COLLATE "C" NOT NULL,
  -- The limit or budget, such as team_rpm; '' if it was none.
  scope text COLLATE "C" NOT NULL,
  -- The process or isolate.
  counter text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (minute, key_id, team_id, organization_id, user_id, endpoint, code, scope, counter)
);
CREATE INDEX IF NOT EXISTS gateway_refusal_key ON gateway_refusal (key_id, minute);
CREATE INDEX IF NOT EXISTS gateway_refusal_team ON gateway_refusal (team_id, minute) WHERE team_id <> '';
CREATE INDEX IF NOT EXISTS gateway_refusal_organization ON gateway_refusal (organization_id, minute) WHERE organization_id <> '';
CREATE INDEX IF NOT EXISTS gateway_refusal_user ON gateway_refusal (user_id, minute) WHERE user_id <> '';

-- Calls whose rows retention has removed, and calls that were written late: what is delivered once more adds nothing.
CREATE TABLE IF NOT EXISTS gateway_spend_past (
  call_id text COLLATE "C" PRIMARY KEY,
  noted_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS gateway_spend_past_noted ON gateway_spend_past (noted_at);

-- When each key was last used, to a minute: written with the ledger, and kept longer than its rows.
DO $$ BEGIN
  IF to_regclass('gateway_key_use') IS NULL THEN
    CREATE TABLE gateway_key_use (
      key_id text COLLATE "C" PRIMARY KEY,
      last_used_at timestamptz NOT NULL
    );
    INSERT INTO gateway_key_use (key_id, last_used_at)
      SELECT key_id, last.at FROM gateway_key CROSS JOIN LATERAL (
        SELECT at FROM gateway_spend AS call WHERE call.key_id = gateway_key.key_id ORDER BY at DESC LIMIT 1
      ) AS last;
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_key_use_time ON gateway_key_use (last_used_at, key_id);

-- Hourly sums of calls whose rows exceeded the available space while the database was away. fold_id makes writes
-- idempotent.
CREATE TABLE IF NOT EXISTS gateway_spend_fold (
  fold_id text COLLATE "C" PRIMARY KEY,
  written_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS gateway_spend_folded (
  fold_id text COLLATE "C" NOT NULL,
  shape integer NOT NULL,
  hour timestamptz NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  tags text[] NOT NULL,
  calls bigint NOT NULL,
  failed_calls bigint NOT NULL,
  cached_calls bigint NOT NULL,
  estimated_calls bigint NOT NULL,
  unpriced_calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_creation_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  images bigint NOT NULL,
  audio_seconds double precision NOT NULL,
  characters bigint NOT NULL,
  rerank_units bigint NOT NULL,
  cost_nano bigint NOT NULL,
  saved_nano bigint NOT NULL,
  total_ms double precision NOT NULL,
  PRIMARY KEY (fold_id, shape)
);

-- Sums of the ledger, kept up to date by the statement that adds its rows, so that no report reads the ledger itself.
CREATE TABLE IF NOT EXISTS gateway_spend_rollup (
  grain text COLLATE "C" NOT NULL CHECK (grain IN ('hour', 'day')),
  bucket timestamptz NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  failed_calls bigint NOT NULL,
  cached_calls bigint NOT NULL,
  estimated_calls bigint NOT NULL,
  unpriced_calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_creation_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  images bigint NOT NULL,
  audio_seconds double precision NOT NULL,
  characters bigint NOT NULL,
  rerank_units bigint NOT NULL,
  cost_nano bigint NOT NULL,
  saved_nano bigint NOT NULL,
  total_ms double precision NOT NULL,
  PRIMARY KEY (grain, bucket, key_id, user_id, team_id, organization_id, model, provider, deployment)
) WITH (fillfactor = 80);

-- What reports are narrowed to. On a large table they take longer than a start may: there the operator builds them, with
-- CONCURRENTLY, and reports work without them until then.
DO $$ BEGIN
  IF pg_relation_size('gateway_spend_rollup') < 64 * 1024 * 1024 THEN
    CREATE INDEX IF NOT EXISTS gateway_spend_rollup_key ON gateway_spend_rollup (key_id, grain, bucket);
    CREATE INDEX IF NOT EXISTS gateway_spend_rollup_user ON gateway_spend_rollup (user_id, grain, bucket);
    CREATE INDEX IF NOT EXISTS gateway_spend_rollup_team ON gateway_spend_rollup (team_id, grain, bucket);
    CREATE INDEX IF NOT EXISTS gateway_spend_rollup_organization
      ON gateway_spend_rollup (organization_id, grain, bucket);
    CREATE INDEX IF NOT EXISTS gateway_spend_rollup_model ON gateway_spend_rollup (model, grain, bucket);
    CREATE INDEX IF NOT EXISTS gateway_spend_rollup_deployment ON gateway_spend_rollup (deployment, grain, bucket);
  END IF;
END $$;

-- The sums by tag: a call counts for each of its tags.
CREATE TABLE IF NOT EXISTS gateway_spend_tag_rollup (
  tag text COLLATE "C" NOT NULL,
  LIKE gateway_spend_rollup INCLUDING CONSTRAINTS,
  PRIMARY KEY (grain, bucket, tag, key_id, user_id, team_id, organization_id, model, provider, deployment)
) WITH (fillfactor = 80);

-- The same for each value of one dimension alone, whatever the others are, and for all calls (dimension 'all'): what
-- most reports ask for, in few rows.
CREATE TABLE IF NOT EXISTS gateway_spend_total (
  dimension text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  grain text COLLATE "C" NOT NULL CHECK (grain IN ('hour', 'day')),
  bucket timestamptz NOT NULL,
  calls bigint NOT NULL,
  failed_calls bigint NOT NULL,
  cached_calls bigint NOT NULL,
  estimated_calls bigint NOT NULL,
  unpriced_calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_creation_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  images bigint NOT NULL,
  audio_seconds double precision NOT NULL,
  characters bigint NOT NULL,
  rerank_units bigint NOT NULL,
  cost_nano bigint NOT NULL,
  saved_nano bigint NOT NULL,
  total_ms double precision NOT NULL,
  PRIMARY KEY (grain, dimension, bucket, value)
) WITH (fillfactor = 80);

-- The same by what served the calls, whoever made them: reports of models, providers and deployments among each other.
CREATE TABLE IF NOT EXISTS gateway_spend_served (
  grain text COLLATE "C" NOT NULL CHECK (grain IN ('hour', 'day')),
  bucket timestamptz NOT NULL,
  model text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  deployment text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  failed_calls bigint NOT NULL,
  cached_calls bigint NOT NULL,
  estimated_calls bigint NOT NULL,
  unpriced_calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_input_tokens bigint NOT NULL,
  cache_creation_input_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  images bigint NOT NULL,
  audio_seconds double precision NOT NULL,
  characters bigint NOT NULL,
  rerank_units bigint NOT NULL,
  cost_nano bigint NOT NULL,
  saved_nano bigint NOT NULL,
  total_ms double precision NOT NULL,
  PRIMARY KEY (grain, bucket, model, provider, deployment)
) WITH (fillfactor = 80);

-- What each key has cost on each day, as far as it has, in the order of that: reports find the few dearest of very many keys
-- without reading the others. The sums themselves are in the totals, whose rows are changed in place: an index over what
-- changes would end that.
CREATE TABLE IF NOT EXISTS gateway_spend_key_day (
  day timestamptz NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  cost_nano bigint NOT NULL,
  PRIMARY KEY (day, key_id)
);
CREATE INDEX IF NOT EXISTS gateway_spend_key_day_cost ON gateway_spend_key_day (day, cost_nano);

-- The dearest people of each day that has ended, and the dearest keys and people among the calls of a model, a provider, a
-- deployment or an organization (dimension and value as in the totals), the dearest first. A ranking is made of so many
-- calls: it holds as long as the totals of its day have no more.
CREATE TABLE IF NOT EXISTS gateway_spend_ranking (
  dimension text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  ranked text COLLATE "C" NOT NULL CHECK (ranked IN ('key_id', 'user_id')),
  day timestamptz NOT NULL,
  calls bigint NOT NULL,
  ids text[] NOT NULL,
  costs_nano bigint[] NOT NULL,
  PRIMARY KEY (dimension, value, ranked, day)
);

-- The distributions of latencies: how many answered calls took up to so many milliseconds, and more than the bucket before.
DO $$ DECLARE
  sums text;
  latency text;
  bucket text;
BEGIN
  FOREACH sums IN ARRAY ARRAY['gateway_spend_folded', 'gateway_spend_rollup', 'gateway_spend_tag_rollup',
    'gateway_spend_total', 'gateway_spend_served'] LOOP
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = sums::regclass AND attname = 'total_ms_more') THEN
      FOREACH latency IN ARRAY ARRAY['total_ms', 'first_token_ms'] LOOP
        FOREACH bucket IN ARRAY ARRAY['50', '100', '200', '400', '800', '1600', '3200', '6400', '12800', '25600', '51200',
          '102400', 'more'] LOOP
          EXECUTE format('ALTER TABLE %I ADD COLUMN %I integer NOT NULL DEFAULT 0', sums, latency || '_' || bucket);
        END LOOP;
      END LOOP;
    END IF;
  END LOOP;
END $$;

-- Policies of route groups, by name, so that groups of the configuration file can have one. A draft has no effect.
CREATE TABLE IF NOT EXISTS gateway_route_group_policy (
  group_name text COLLATE "C" PRIMARY KEY,
  published json,
  version integer NOT NULL DEFAULT 0,
  published_at timestamptz,
  restored_from integer,
  draft json,
  draft_version integer NOT NULL DEFAULT 0,
  drafted_at timestamptz
);

-- All published versions of policies.
CREATE TABLE IF NOT EXISTS gateway_route_group_policy_version (
  group_name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  policy json NOT NULL,
  restored_from integer,
  published_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (group_name, version)
);
-- The account of who has published it, or master_key; '' of versions from before this was kept.
ALTER TABLE gateway_route_group_policy_version ADD COLUMN IF NOT EXISTS published_by text NOT NULL DEFAULT '';

-- Prompt templates. Versions are numbered from 1 without gaps and never change; latest is the newest. Labels name versions:
-- {label: version}; former_labels what each named before it was moved.
CREATE TABLE IF NOT EXISTS gateway_prompt (
  key text COLLATE "C" PRIMARY KEY,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'archived')),
  description text NOT NULL DEFAULT '',
  labels json NOT NULL DEFAULT '{}',
  former_labels json NOT NULL DEFAULT '{}',
  latest integer NOT NULL,
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS gateway_prompt_version (
  key text COLLATE "C" NOT NULL REFERENCES gateway_prompt (key) ON DELETE CASCADE,
  version integer NOT NULL,
  -- json, not jsonb: strings may hold \u0000.
  messages json NOT NULL,
  variables json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- An account, a key, or master_key.
  created_by text NOT NULL,
  note text NOT NULL DEFAULT '',
  PRIMARY KEY (key, version)
);

-- The audit log of administration and accounts, including refused writes.
CREATE TABLE IF NOT EXISTS gateway_audit_event (
  event_id text COLLATE "C" PRIMARY KEY,
  occurred_at timestamptz NOT NULL,
  actor_type text NOT NULL,
  actor_id text COLLATE "C",
  organization_id text COLLATE "C",
  -- key.create, team.update, …
  action text COLLATE "C" NOT NULL,
  resource_type text COLLATE "C" NOT NULL,
  resource_id text COLLATE "C",
  request_id text NOT NULL,
  ip text,
  user_agent text,
  -- Of the HTTP answer.
  status integer NOT NULL,
  -- json, not jsonb: strings may hold \u0000.
  changes json NOT NULL,
  metadata json NOT NULL
);
CREATE INDEX IF NOT EXISTS gateway_audit_event_time ON gateway_audit_event (occurred_at, event_id);
CREATE INDEX IF NOT EXISTS gateway_audit_event_resource
  ON gateway_audit_event (resource_type, resource_id, occurred_at, event_id);
CREATE INDEX IF NOT EXISTS gateway_audit_event_actor ON gateway_audit_event (actor_id, occurred_at, event_id);
CREATE INDEX IF NOT EXISTS gateway_audit_event_organization
  ON gateway_audit_event (organization_id, occurred_at, event_id);
CREATE INDEX IF NOT EXISTS gateway_audit_event_request ON gateway_audit_event (request_id);
CREATE INDEX IF NOT EXISTS gateway_audit_event_refused ON gateway_audit_event (occurred_at, event_id)
  WHERE status >= 400;

-- Which warning of its end was given of a key: so many days before expires_at.
CREATE TABLE IF NOT EXISTS gateway_key_notice (
  key_id text COLLATE "C" PRIMARY KEY REFERENCES gateway_key (key_id) ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  days integer NOT NULL
);

-- Records of the ledger and the audit that the database refused, until they are written after all. letter_id is derived
-- from the record.
CREATE TABLE IF NOT EXISTS gateway_dead_letter (
  letter_id text COLLATE "C" PRIMARY KEY,
  topic text NOT NULL,
  -- json, not jsonb: strings may hold \u0000.
  body json NOT NULL,
  error text NOT NULL,
  died_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS gateway_dead_letter_time ON gateway_dead_letter (died_at, letter_id);

-- Files of batches. Their content is the blob files/<file_id>.
CREATE TABLE IF NOT EXISTS gateway_file (
  file_id text COLLATE "C" PRIMARY KEY,
  purpose text NOT NULL CHECK (purpose IN ('batch', 'batch_output')),
  filename text NOT NULL,
  bytes bigint NOT NULL DEFAULT 0,
  sha256 text,
  -- Lines that are not blank.
  lines integer NOT NULL DEFAULT 0,
  -- The first line that asks for managed tools, which batches do not have.
  managed_tools_line integer,
  -- Only a ready file is shown. uploading: the content is not complete. removing: it was deleted or has expired, and its
  -- content may still be there.
  state text NOT NULL DEFAULT 'uploading' CHECK (state IN ('uploading', 'ready', 'removing')),
  -- The owner: this key (a virtual key's id, or master_key), and the others of its team.
  key_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C",
  organization_id text COLLATE "C",
  user_id text COLLATE "C",
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'gateway_file'::regclass
      AND conname = 'gateway_file_state_check' AND pg_get_constraintdef(oid) NOT LIKE '%removing%') THEN
    ALTER TABLE gateway_file DROP CONSTRAINT gateway_file_state_check,
      ADD CONSTRAINT gateway_file_state_check CHECK (state IN ('uploading', 'ready', 'removing'));
  END IF;
END $$;
CREATE INDEX IF NOT EXISTS gateway_file_key ON gateway_file (key_id, created_at, file_id);
CREATE INDEX IF NOT EXISTS gateway_file_team ON gateway_file (team_id, created_at, file_id) WHERE team_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS gateway_file_expires ON gateway_file (expires_at);
CREATE INDEX IF NOT EXISTS gateway_file_unready ON gateway_file (created_at) WHERE state <> 'ready';

CREATE TABLE IF NOT EXISTS gateway_batch (
  batch_id text COLLATE "C" PRIMARY KEY,
  endpoint text NOT NULL,
  input_file_id text COLLATE "C" NOT NULL,
  completion_window text NOT NULL DEFAULT '24h',
  -- json, not jsonb: strings may hold \u0000.
  metadata json,
  status text NOT NULL DEFAULT 'validating' CHECK (status IN
    ('validating', 'in_progress', 'finalizing', 'completed', 'failed', 'expired', 'cancelling', 'cancelled')),
  -- How a batch ends whose files are being written.
  outcome text CHECK (outcome IN ('completed', 'expired', 'cancelled')),
  -- The owner, as of a file. Its calls are this key's.
  key_id text COLLATE "C" NOT NULL,
  team_id text COLLATE "C",
  organization_id text COLLATE "C",
  user_id text COLLATE "C",
  idempotency_key text COLLATE "C",
  -- The hash of the body that was sent with that key.
  request_hash text,
  -- The batch whose failed requests this one repeats.
  retry_of text COLLATE "C",
  -- What validation found: [{code, message, param, line}].
  errors json,
  -- The number of requests, known after validation.
  requests integer NOT NULL DEFAULT 0,
  -- The byte offset in the input file of every 64th request, and its line.
  checkpoints json,
  -- Requests before this one have been claimed, and have a row in gateway_batch_item.
  next_item integer NOT NULL DEFAULT 0,
  completed integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  cached_input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  reasoning_tokens bigint NOT NULL DEFAULT 0,
  cost_nano numeric NOT NULL DEFAULT 0,
  -- The model of all results so far; '' if they have several.
  model text,
  output_file_id text COLLATE "C",
  error_file_id text COLLATE "C",
  -- Nothing of it is claimed before: its key has reached a limit.
  due_at timestamptz NOT NULL DEFAULT now(),
  -- When something of it was last claimed. The owner that waits longest is served first.
  served_at timestamptz NOT NULL DEFAULT now(),
  -- Who validates it or writes its files, and until when.
  lease_token text,
  lease_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  in_progress_at timestamptz,
  finalizing_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  expired_at timestamptz,
  cancelling_at timestamptz,
  cancelled_at timestamptz,
  expires_at timestamptz NOT NULL,
  CONSTRAINT gateway_batch_idempotency UNIQUE (key_id, idempotency_key)
);
-- How long its files are kept, where its client has said so.
ALTER TABLE gateway_batch ADD COLUMN IF NOT EXISTS output_seconds integer;
CREATE INDEX IF NOT EXISTS gateway_batch_key ON gateway_batch (key_id, created_at, batch_id);
CREATE INDEX IF NOT EXISTS gateway_batch_team ON gateway_batch (team_id, created_at, batch_id)
  WHERE team_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS gateway_batch_time ON gateway_batch (created_at, batch_id);
CREATE INDEX IF NOT EXISTS gateway_batch_input ON gateway_batch (input_file_id);
CREATE INDEX IF NOT EXISTS gateway_batch_active ON gateway_batch (served_at)
  WHERE status IN ('validating', 'in_progress', 'finalizing', 'cancelling');

-- The requests of a batch that have been claimed.
CREATE TABLE IF NOT EXISTS gateway_batch_item (
  batch_id text COLLATE "C" NOT NULL,
  -- The number of the request, from 0.
  item integer NOT NULL,
  -- Where it is in the input file, known once it was read.
  line integer,
  starts_at bigint,
  length integer,
  custom_id text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'completed', 'failed')),
  -- The tries that ended and were to be repeated.
  tries integer NOT NULL DEFAULT 0,
  -- The claim that may write it, until due_at; without one, when it may be claimed.
  token text,
  due_at timestamptz NOT NULL,
  last_error text,
  -- The answer's.
  status integer,
  error_code text,
  call_id text COLLATE "C",
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  -- null: the price is unknown.
  cost_nano bigint,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  PRIMARY KEY (batch_id, item)
);
CREATE INDEX IF NOT EXISTS gateway_batch_item_open ON gateway_batch_item (batch_id, due_at, item) WHERE state = 'open';

-- The result lines of a batch until its files are written.
CREATE TABLE IF NOT EXISTS gateway_batch_result (
  batch_id text COLLATE "C" NOT NULL,
  item integer NOT NULL,
  -- It goes into the error file.
  failed boolean NOT NULL,
  -- null: it is the blob batches/<batch_id>/results/<item>.
  text text,
  PRIMARY KEY (batch_id, failed, item)
);

-- The results that may be blobs: named before they are stored, and until they are removed.
CREATE TABLE IF NOT EXISTS gateway_batch_blob (
  batch_id text COLLATE "C" NOT NULL,
  item integer NOT NULL,
  PRIMARY KEY (batch_id, item)
);
