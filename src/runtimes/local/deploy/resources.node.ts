import type { PlanLimits } from './plan-limits.ts'
import { Refusal } from './refusal.ts'
import type { WantedQueue } from './wanted.node.ts'
import { jsonIn, succeeded, type Wrangler } from './wrangler.node.ts'

/** Until a page of the list brings nothing new. */
const MOST_PAGES = 50

/** Refuses to go on without an account, or with several of which none is chosen. Returns what to call it. */
export async function account(wrangler: Wrangler, chosen: string | undefined): Promise<string> {
  const { output } = await wrangler.run(['whoami', '--json'])
  const told = jsonIn(output) as { loggedIn?: boolean; email?: string; accounts?: { id: string; name: string }[] }
  if (!told?.loggedIn) {
    throw new Refusal('You are not logged in at Cloudflare. Run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN.')
  }
  const { accounts = [] } = told
  if (chosen === undefined && accounts.length > 1) {
    const list = accounts.map(({ id, name }) => `\n  ${id}  ${name}`).join('')
    throw new Refusal(`You have several accounts. Set CLOUDFLARE_ACCOUNT_ID to one of:${list}`)
  }
  return accounts.find(({ id }) => id === chosen)?.name ?? accounts[0]?.name ?? chosen ?? 'an account'
}

/** Makes the buckets that are not there. Returns the names of those. */
export async function makeBuckets(wrangler: Wrangler, names: readonly string[]): Promise<string[]> {
  const list = succeeded(await wrangler.run(['r2', 'bucket', 'list']), 'The buckets cannot be listed')
  const present = new Set([...list.output.matchAll(/^name:\s+(\S+)$/gm)].map(([, name]) => name))
  const made: string[] = []
  for (const name of names) {
    if (present.has(name)) continue
    // The list is cut where there are many.
    if (await makes(wrangler, ['r2', 'bucket', 'create', name], /already exists, and you own it/)) made.push(name)
  }
  return made
}

/** Makes the queues that are not there. Returns the names of those. */
export async function makeQueues(
  wrangler: Wrangler,
  queues: readonly WantedQueue[],
  plan: PlanLimits,
): Promise<string[]> {
  const present = await queueNames(wrangler)
  const made: string[] = []
  for (const queue of queues) {
    if (present.has(queue.name)) continue
    if (await makes(wrangler, queueCreation(queue, plan), /already taken/)) made.push(queue.name)
  }
  return made
}

export const queueCreation = ({ name, isPatient }: WantedQueue, plan: PlanLimits): string[] => [
  ...['queues', 'create', name],
  ...(isPatient ? ['--message-retention-period-secs', String(plan.retentionSeconds)] : []),
]

async function queueNames(wrangler: Wrangler): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const before = names.size
    const { output } = succeeded(
      await wrangler.run(['queues', 'list', '--page', String(page)]),
      'The queues cannot be listed',
    )
    for (const line of output.split('\n')) {
      const [, id, name] = line.split('│').map((cell) => cell.trim())
      if (name !== undefined && id !== 'id') names.add(name)
    }
    if (names.size === before) break
  }
  return names
}

/** Whether it was made here: it may have been there all the same. */
async function makes(wrangler: Wrangler, command: readonly string[], present: RegExp): Promise<boolean> {
  const ran = await wrangler.run(command)
  if (ran.code !== 0 && present.test(ran.output)) return false
  succeeded(ran, `\`wrangler ${command.join(' ')}\` failed`)
  return true
}
