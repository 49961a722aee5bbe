import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type GatewayServer, spawnGateway } from './gateway-server.ts'
import type { Place } from './targets/target.ts'
import { requestBody } from './wire.ts'

/** From the start of the process to its first answer of a model, and to its first row of the database. */
export interface StartTimes {
  readonly firstAnswerMs: number
  readonly readyMs: number
  /** The same again, in the folder that the first start has left. */
  readonly warmFirstAnswerMs: number
  readonly warmReadyMs: number
}

/** Starts a gateway beside the one that is measured, in a new folder, twice. */
export async function startTimes(place: Place, env: Readonly<Record<string, string>>): Promise<StartTimes> {
  const folder = await mkdtemp(join(place.folder, 'start-'))
  const [first, warm] = [await oneStart({ ...place, folder }, env), await oneStart({ ...place, folder }, env)]
  await rm(folder, { recursive: true, force: true })
  return { ...first, warmFirstAnswerMs: warm.firstAnswerMs, warmReadyMs: warm.readyMs }
}

const PATIENCE_MS = 20_000

async function oneStart(place: Place, env: Readonly<Record<string, string>>) {
  const startedAt = performance.now()
  const { child, ...server } = await spawnGateway(place, env)
  const sinceStart = async (answered: () => Promise<Response>) => {
    for (;;) {
      const ok = await answered().then(
        (response) => response.arrayBuffer().then(() => response.status === 200),
        () => false,
      )
      const elapsed = performance.now() - startedAt
      if (ok) return elapsed
      if (elapsed > PATIENCE_MS || child.exitCode !== null) throw new Error('a gateway did not start')
      await wait(5)
    }
  }
  const [firstAnswerMs, readyMs] = await Promise.all([
    sinceStart(() => chat(server)),
    sinceStart(() => fetch(`${server.root}/health/readiness`)),
  ])
  child.kill('SIGTERM')
  await once(child, 'exit')
  return { firstAnswerMs, readyMs }
}

function chat({ root, headers }: Pick<GatewayServer, 'root' | 'headers'>): Promise<Response> {
  return fetch(`${root}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: requestBody(false),
  })
}
