import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../config/schema.ts'
import { MOST_CALLS, MOST_TURNS } from '../../../pipeline/tools/bounds.ts'
import { buildWorker } from '../build-worker.node.ts'
import type { Measured } from './plan-limits.ts'
import type { Wrangler } from './wrangler.node.ts'

/** Statements of the first call of an isolate: the schema, the salt, an unknown key, the registry. */
const STATEMENTS = 8
/** Requests to a shared store over HTTP: scripts that it lacks, deciding, settling. Those to a Durable Object and to queues
 *  are requests to Cloudflare's own services, of which every plan allows a thousand. */
const STORE_REQUESTS = 7
/** Each attempt that fails is settled, and the next one has a place of its own. */
const STORE_REQUESTS_AN_ATTEMPT = 2
/** A session with a server of tools, and its list of tools. */
const REQUESTS_A_SERVER = 3

/** Measures the upload of a deployment, and its start on this machine. Nothing leaves this machine. */
export async function measure(
  wrangler: Wrangler,
  target: readonly string[],
): Promise<Pick<Measured, 'bytes' | 'gzipBytes' | 'startupMs'>> {
  const { bytes, gzipBytes } = buildWorker(target, wrangler.env)
  const folder = mkdtempSync(join(tmpdir(), 'gateway-start-'))
  try {
    const { output } = await wrangler.run([
      ...['check', 'startup', '--outfile', join(folder, 'start.cpuprofile')],
      ...['--args', target.join(' ')],
    ])
    const active = /Active: ([\d.]+) ms/.exec(output)?.[1]
    return { bytes, gzipBytes, startupMs: active === undefined ? undefined : Math.round(Number(active)) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The most requests that leave Cloudflare in a call: each attempt in each group of its longest chain, and those of its
 *  own. `withTools`: of a call that uses all configured servers of managed tools. */
export function subrequestsOf(config: Config): { readonly call: number; readonly withTools: number } {
  const { router_settings: router, gateway_settings: gateway, general_settings: general } = config
  const chains = [gateway.fallbacks, gateway.context_window_fallbacks, gateway.content_policy_fallbacks]
  const longest = Math.max(0, ...chains.flat().flatMap((chain) => Object.values(chain).map((groups) => groups.length)))
  const hedged = router.hedge_after_ms === undefined && router.hedge === undefined ? 1 : 2
  const attempts = Math.max(1 + router.num_retries, hedged) * (1 + longest)
  const [own, anAttempt] = general.redis_url
    ? [STATEMENTS + STORE_REQUESTS, 1 + STORE_REQUESTS_AN_ATTEMPT]
    : [STATEMENTS, 1]
  const call = own + attempts * anAttempt
  const servers = gateway.mcp_servers.length
  const tools = MOST_TURNS * anAttempt + MOST_CALLS + servers * REQUESTS_A_SERVER
  return { call, withTools: servers === 0 ? call : call + tools }
}
