import { readBudgetDuration } from '../../../limits/budget-period.ts'
import { type AdminApi, all, ask, type Environment } from './admin-api.ts'
import { optionsOf, outcomeOf, print, UsageError, WHERE, withAdminApi } from './options.node.ts'

export const KEYS_USAGE = `Usage: model-gateway keys create [options]      makes a key and prints it, once
       model-gateway keys list                  all keys
       model-gateway keys regenerate KEY_ID     gives a key another secret and prints it, once
       model-gateway keys revoke KEY_ID         ends a key for ever

  --name TEXT            a name for people
  --team ID  --organization ID  --user ID       what it belongs to
  --models gpt,claude    the only models that it may call
  --max-budget 10/30d    US dollars in each 30 days; 10: altogether
  --rpm N  --tpm N  --rph N  --rpd N  --tpd N   requests and tokens per minute, hour and day
  --max-parallel N       calls at once
  --expires 90d          its lifetime, or a date: 2027-12-31
  --json                 prints the whole record
  --url ADDRESS          asks a running gateway, with the key in GATEWAY_KEY
`

const TEXT = { type: 'string' } as const
const OPTIONS = {
  ...WHERE,
  name: TEXT,
  team: TEXT,
  organization: TEXT,
  user: TEXT,
  models: TEXT,
  'max-budget': TEXT,
  rpm: TEXT,
  tpm: TEXT,
  rph: TEXT,
  rpd: TEXT,
  tpd: TEXT,
  'max-parallel': TEXT,
  expires: TEXT,
  json: { type: 'boolean' },
} as const

type Given = Readonly<Partial<Record<Exclude<keyof typeof OPTIONS, 'json'>, string>>> & { readonly json?: boolean }

/** `model-gateway keys …`. */
export function keysCommand(operands: readonly string[], env: Environment): Promise<number> {
  return outcomeOf(KEYS_USAGE, async () => {
    const { values, positionals } = optionsOf(operands, OPTIONS)
    const [action, id, ...more] = positionals
    if (action === undefined) throw new UsageError('Say what to do with keys')
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run || more.length > 0) throw new UsageError(`There is no command keys ${positionals.join(' ')}`)
    await withAdminApi(env, values.url, (api) => run(api, values, id))
    return 0
  })
}

type Action = (api: AdminApi, given: Given, id: string | undefined) => Promise<void>

const ACTIONS: Readonly<Record<string, Action | undefined>> = {
  async create(api, given, id) {
    if (id !== undefined) throw new UsageError(`keys create takes options alone, and no ${id}`)
    const body = bodyOf(given)
    const models = given.models?.split(',').map((name) => name.trim())
    const key = await ask(api, 'POST', '/ui/api/keys', body)
    const path = `/ui/api/keys/${encodeURIComponent(String(key.key_id))}`
    if (models) {
      try {
        await ask(api, 'PUT', `${path}/model-access`, { models })
      } catch (error) {
        // A key that may call more than was asked for is not left behind.
        await ask(api, 'DELETE', path)
        throw error
      }
    }
    show(given, key)
  },
  async list(api, { json }) {
    const keys = await all(api, '/ui/api/keys')
    const lines = keys.map((one) => `${one.key_id}  ${one.state}  ${one.team_id ?? '-'}  ${one.key_name ?? ''}\n`)
    print(json ? `${JSON.stringify(keys, null, 2)}\n` : lines.join(''))
  },
  async regenerate(api, given, id) {
    show(given, await ask(api, 'POST', `${pathOf(id)}/regenerate`))
  },
  async revoke(api, given, id) {
    const key = await ask(api, 'POST', `${pathOf(id)}/revoke`)
    print(given.json ? `${JSON.stringify(key, null, 2)}\n` : `${key.key_id} is revoked.\n`)
  },
}

function pathOf(id: string | undefined): string {
  if (id === undefined) throw new UsageError('Name the key by its id, key-…')
  return `/ui/api/keys/${encodeURIComponent(id)}`
}

/** The key goes to standard output alone, so that a script can take it from there. */
function show({ json }: Given, key: Readonly<Record<string, unknown>>): void {
  if (json) {
    print(`${JSON.stringify(key, null, 2)}\n`)
    return
  }
  process.stderr.write(`${key.key_id}  (the key itself follows; it is never shown again)\n`)
  print(`${key.key}\n`)
}

function bodyOf(given: Given): Readonly<Record<string, unknown>> {
  const body = {
    key_name: given.name,
    team_id: given.team,
    organization_id: given.organization,
    user_id: given.user,
    rpm_limit: count(given, 'rpm'),
    tpm_limit: count(given, 'tpm'),
    rph_limit: count(given, 'rph'),
    rpd_limit: count(given, 'rpd'),
    tpd_limit: count(given, 'tpd'),
    max_parallel_requests: count(given, 'max-parallel'),
    ...budgetOf(given['max-budget']),
    ...lifeOf(given.expires),
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

function count(given: Given, name: 'rpm' | 'tpm' | 'rph' | 'rpd' | 'tpd' | 'max-parallel'): number | undefined {
  const text = given[name]
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--${name} wants a whole number, and not '${text}'`)
}

/** `10/30d`: US dollars, and the period in which they may be spent. */
function budgetOf(text: string | undefined): object {
  if (text === undefined) return {}
  const [, dollars, period] = /^(\d+(?:\.\d+)?)(?:\/(\w+))?$/.exec(text) ?? []
  if (dollars === undefined || (period !== undefined && !readBudgetDuration(period))) {
    throw new UsageError(`--max-budget wants US dollars and a period, such as 10/30d, and not '${text}'`)
  }
  return { max_budget: Number(dollars), budget_duration: period }
}

function lifeOf(text: string | undefined): object {
  if (text === undefined) return {}
  if (readBudgetDuration(text)) return { duration: text }
  const moment = new Date(text)
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(moment.getTime())) return { expires_at: moment.toISOString() }
  throw new UsageError(`--expires wants a length of time such as 90d, or a date such as 2027-12-31, and not '${text}'`)
}
