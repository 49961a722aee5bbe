import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../config/schema.ts'
import { buildWorker } from '../build-worker.node.ts'
import type { Measured } from './plan-limits.ts'
import type { Wrangler } from './wrangler.node.ts'

/** Round trips of a call to the stores and to queues: deciding, settling, an unknown key, its record. */
const OWN_REQUESTS = 8

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

/** The most requests that a call can make: each attempt in each group of its longest chain, and those of its own. */
export function subrequestsOf({ router_settings: router, gateway_settings: gateway }: Config): number {
  const chains = [gateway.fallbacks, gateway.context_window_fallbacks, gateway.content_policy_fallbacks]
  const longest = Math.max(0, ...chains.flat().flatMap((chain) => Object.values(chain).map((groups) => groups.length)))
  const hedged = router.hedge_after_ms === undefined && router.hedge === undefined ? 1 : 2
  return OWN_REQUESTS + (1 + router.num_retries) * (1 + longest) * hedged
}
