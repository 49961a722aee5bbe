import * as z from 'zod'
import { isAddressRange } from '../../lib/addresses/address-range.ts'
import { lazily } from '../../lib/lazily.ts'
import { LOG_LEVELS } from '../../lib/log.ts'
import { readSaltKey, type SaltKeys } from '../../lib/sealing/salt-key.ts'
import { reveal, type Secret, secret } from '../../lib/secret.ts'
import {
  checked,
  count,
  email,
  evenIfBroken,
  flag,
  headerSecret,
  positiveCount,
  positiveSeconds,
  seconds,
  secretText,
  section,
} from '../fields.ts'
import { mistakeInKey } from '../key-strength.ts'
import { mistakeInOperatorUrl } from '../operator-url.ts'
import { blobStorage } from './blob-storage.ts'
import { emailSettings, missingEmailSettings } from './email-settings.ts'
import { selfRegistration } from './self-registration.ts'
import { missingSsoSettings, ssoSettings } from './single-sign-on.ts'

const MIB = 1024 * 1024

/** Hosted stores bound what a request brings; own ones take more. */
const MOST_RESPONSE_BYTES = 16 * MIB
const key = () => checked(mistakeInKey).transform(secret)
const days = () => count().max(36_500)
const degradedMode = () => z.enum(['fail_open', 'fail_closed'])

/** Keys, stores, accounts and limits of the gateway itself. */
export const generalSettings = lazily(() =>
  section({
    master_key: key().optional().describe('The key with full access; usually an environment reference.'),
    master_key_previous: key()
      .optional()
      .describe('A former master key that is accepted as well, while its users change to the new one.'),
    salt_key: key()
      .optional()
      .describe('Salts the hashes of API keys and encrypts stored provider secrets. Only `salt-key` makes another.'),
    salt_key_next: key().optional().describe('The next salt key: this gateway can read what others encrypt under it.'),
    salt_key_previous: key()
      .optional()
      .describe('The former salt key: what was encrypted under it can be read, and is encrypted again under salt_key.'),
    database_url: checked(mistakeInDatabaseUrl)
      .transform(secret)
      .optional()
      .describe('Address of the database: postgres://…, Neon included.'),
    redis_url: checked(mistakeInRedisUrl)
      .transform(secret)
      .optional()
      .describe('Address of the shared store: redis:// or rediss:// over TCP (Node), https:// over REST.'),
    redis_token: headerSecret().optional().describe('The token of a shared store over REST.'),
    degraded_mode: degradedMode()
      .optional()
      .describe('While the shared store is down: fail_open counts in each process (default), fail_closed answers 503.'),
    redis_degraded_mode: degradedMode().optional().describe('Another name for degraded_mode.'),
    identity_grace_seconds: seconds()
      .default(600)
      .describe(
        'Seconds that a known key keeps working while neither the shared store nor the database can confirm it; then 503.',
      ),
    blob_storage: blobStorage()
      .optional()
      .describe('S3-compatible storage of batch files, instead of the built-in one.'),

    platform_bootstrap_admin_email: email().optional().describe('E-mail address of the first admin account.'),
    platform_bootstrap_admin_password: secretText().optional().describe('Its password until the first login.'),
    require_mfa: z
      .union([z.literal(false), z.enum(['admins', 'everyone'])])
      .default(false)
      .describe(
        'Who must set up a second factor before using a session: everyone, or admins (of the platform, an organization or a team).',
      ),
    ...emailSettings(),
    ...ssoSettings(),
    self_registration: selfRegistration()
      .prefault({})
      .describe('Accounts that people of allowed domains create themselves.'),

    cors_origins: z
      .array(checked(mistakeInOrigin))
      .default([])
      .describe('Browser origins that may call the API; *: any.'),
    trusted_proxies: z
      .array(checked(mistakeInAddressRange))
      .default([])
      .describe("Addresses or CIDR ranges of proxies whose X-Forwarded-For names the client's address."),
    max_json_bytes: positiveCount()
      .default(32 * MIB)
      .describe('Largest JSON body of a request.'),
    max_upload_bytes: positiveCount()
      .default(100 * MIB)
      .describe('Largest audio upload.'),
    max_backlog_bytes: count()
      .default(1024 * MIB)
      .describe('The most bytes of records kept in the data folder while the database is away; 0: none. Node only.'),
    max_failed_authentications: count()
      .default(300)
      .describe(
        'Requests without a valid credential that one address may send in a minute before it gets 429; 0: unlimited.',
      ),
    max_in_flight_bytes: positiveCount()
      .optional()
      .describe(
        'The most bytes of request bodies and unread answers in a process; default: a quarter of the memory that it has beyond 128 MiB (256 with the embedded database), 32 MiB on Workers.',
      ),
    max_key_in_flight_bytes: positiveCount()
      .optional()
      .describe('The same for the requests of one key; default: half of that.'),
    client_stall_timeout: positiveSeconds()
      .default(60)
      .describe(
        'Seconds without progress after which a client that does not read its answer or send its body is disconnected.',
      ),
    callable_target_default: z
      .enum(['allow', 'deny'])
      .default('allow')
      .describe('Whether callers without any binding on their scopes may call every model or none.'),
    refuse_unpriced: flag()
      .default(false)
      .describe('Refuses deployments whose price is unknown, so that no call is unbilled.'),
    cache_enabled: flag().default(false).describe('Whether complete answers are cached.'),
    cache_ttl: seconds().min(1).default(3600).describe('Seconds that a cached answer is valid.'),
    cache_max_entry_bytes: positiveCount().default(MIB).describe('The largest answer that is cached.'),
    cache_nondeterministic: flag()
      .default(false)
      .describe('Whether calls with a temperature above 0 are cached without asking for it.'),
    cache_wait: seconds()
      .default(30)
      .describe('Seconds that a call waits at most for the answer of an identical one that came before it.'),
    responses_retention: seconds()
      .default(86_400)
      .describe(
        'Seconds for which answers of /v1/responses by translated models are kept, so that a later call can continue them; 0: none.',
      ),
    responses_max_bytes: positiveCount()
      .max(MOST_RESPONSE_BYTES)
      .default(512 * 1024)
      .describe('Longest conversation that is kept with such an answer; the answer to a longer one is not kept.'),
    responses_max_total_bytes: positiveCount()
      .default(256 * MIB)
      .describe(
        'The most bytes that are kept for one team, or for a key without a team, within `responses_retention`.',
      ),
    responses_websocket: flag()
      .default(false)
      .describe(
        'Whether /v1/responses also accepts WebSockets; on Node from 22.21 or 24.9. Elsewhere its clients use HTTP.',
      ),
    health_check_interval: seconds()
      .default(0)
      .describe(
        'Seconds between health checks of idle deployments, some of which cost a few tokens; 0: none. At least 60 on Workers.',
      ),
    metrics_token: secretText()
      .optional()
      .describe('The bearer token that /metrics requires; without it the page is public.'),
    shutdown_delay: seconds()
      .default(0)
      .describe(
        'Seconds that a stopping process (Node) still accepts calls while /health/readiness answers 503, so that load balancers leave it first.',
      ),
    log_level: z.enum(LOG_LEVELS).default('info').describe('The least severe log lines that are written.'),

    embeddings_batch_enabled: flag().default(false).describe('Whether the file and batch endpoints exist.'),
    batch_max_file_bytes: positiveCount()
      .default(200 * MIB)
      .describe('Largest batch file.'),
    batch_max_lines: positiveCount().default(50_000).describe('Most lines of one batch file.'),
    batch_max_line_bytes: positiveCount().default(MIB).describe('Longest line of a batch file.'),
    batch_max_active: count().default(20).describe('Batches that one owner may have running.'),
    batch_concurrency: positiveCount()
      .default(16)
      .describe('Calls of batches that one process has running at most; on Workers a turn has at most 4.'),
    max_tool_result_bytes: positiveCount()
      .default(256 * 1024)
      .describe('Largest result of a managed tool, images included; the rest of a longer one is cut.'),
    file_retention_days: positiveCount()
      .default(30)
      .describe('Days after which a file of a batch, and what the batch left, is removed.'),
    spend_log_retention_days: days()
      .default(0)
      .describe('Days after which the row of a call is removed from the log; 0: never. Sums and budgets stay.'),
    audit_retention_days: days().default(0).describe('Days after which an audit event is removed; 0: never.'),
  })
    .superRefine((settings, context) => {
      const need = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
      for (const [field, reason] of [...missingEmailSettings(settings), ...missingSsoSettings(settings)]) {
        need(field, `is required ${reason}; add it`)
      }
      const admin = ['platform_bootstrap_admin_email', 'platform_bootstrap_admin_password'] as const
      for (const [field, other] of [admin, [admin[1], admin[0]] as const]) {
        if (settings[field] === undefined && settings[other] !== undefined)
          need(field, `is required beside ${other}; add it`)
      }
      if (textOf(settings.redis_url)?.startsWith('http') && settings.redis_token === undefined) {
        need('redis_token', 'is required for a redis_url over http; add it, or set REDIS_TOKEN')
      }
      const { degraded_mode: mode, redis_degraded_mode: alias } = settings
      if (mode !== undefined && alias !== undefined && mode !== alias) {
        need('redis_degraded_mode', 'contradicts degraded_mode; keep one of them')
      }
      const master = textOf(settings.master_key)
      if (master !== undefined && master === textOf(settings.salt_key)) need('salt_key', 'must differ from master_key')
      const previous = textOf(settings.master_key_previous)
      if (previous !== undefined && (master === undefined || master === previous)) {
        need('master_key_previous', 'needs a master_key beside it, another one')
      }
      for (const [field, mistake] of mistakesInSaltKeys(settings)) need(field, mistake)
      if (settings.self_registration?.enabled === true && settings.enable_sso !== true) {
        need('enable_sso', 'must be true while self_registration is enabled')
      }
    }, evenIfBroken)
    .transform(({ redis_degraded_mode, ...settings }) => ({
      ...settings,
      degraded_mode: settings.degraded_mode ?? redis_degraded_mode ?? ('fail_open' as const),
    })),
)

/** What is wrong with the salt keys beside the one in use: all of them hash alike, or no API key would be known. */
function mistakesInSaltKeys(settings: SaltKeys): [string, string][] {
  const now = textOf(settings.salt_key)
  return (['salt_key_next', 'salt_key_previous'] as const).flatMap((field): [string, string][] => {
    const other = textOf(settings[field])
    if (other === undefined) return []
    if (now === undefined || now === other) return [[field, 'needs a salt_key beside it, another one']]
    if (readSaltKey(now).hashing === readSaltKey(other).hashing) return []
    return [[field, 'hashes keys in another way than salt_key does; make the new one with: model-gateway salt-key']]
  })
}

/** The text of a secret; undefined for an invalid field, which is not a secret yet. */
function textOf(field: Secret | undefined): string | undefined {
  return typeof field === 'object' && field?.kind === 'secret' ? reveal(field) : undefined
}

function mistakeInDatabaseUrl(text: string): string | undefined {
  const url = URL.parse(text)
  // A socket of this machine: postgres:///database?host=/run/postgresql
  const hasHost = url && (url.hostname !== '' || url.searchParams.get('host')?.startsWith('/'))
  return url && (url.protocol === 'postgres:' || url.protocol === 'postgresql:') && hasHost
    ? (mistakeInEscapes(url) ?? (url.pathname.includes('@') ? SLASH_IN_PASSWORD : undefined))
    : 'must have the form postgres://user:password@host:5432/database'
}

/** An address ends before the slash: a part of the password would be looked up as a host. */
const SLASH_IN_PASSWORD = 'has an @ behind its host; write %2F for each / of the password, %40 for each @'

const NO_DATABASE = 'must end with the host or with the number of a database, such as /0'

function mistakeInRedisUrl(text: string): string | undefined {
  const url = URL.parse(text)
  if (url && (url.protocol === 'redis:' || url.protocol === 'rediss:') && url.hostname !== '')
    return (
      mistakeInEscapes(url) ??
      (url.pathname.includes('@') ? SLASH_IN_PASSWORD : /^\/?\d*$/.test(url.pathname) ? undefined : NO_DATABASE)
    )
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return mistakeInOperatorUrl(text)
  return 'must begin with redis://, rediss:// or https:// and name a host'
}

/** Generated passwords may hold a %, which an address only accepts in escapes. */
function mistakeInEscapes({ username, password, pathname }: URL): string | undefined {
  try {
    decodeURIComponent([username, password, pathname].join('/'))
    return undefined
  } catch {
    return 'holds a % that begins no escape; write %25 in its place'
  }
}

function mistakeInOrigin(text: string): string | undefined {
  return text === '*' || URL.parse(text)?.origin === text
    ? undefined
    : 'must be * or an origin such as https://app.example.com, without a path'
}

function mistakeInAddressRange(text: string): string | undefined {
  return isAddressRange(text) ? undefined : 'must be an address or a range such as 10.0.0.0/8'
}
