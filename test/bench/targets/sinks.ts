import { once } from 'node:events'
import { everySink } from '../../telemetry/sinks/every-sink.ts'
import { startPostgres } from '../gateway-server.ts'
import { freePort, LOAD_CORE, start } from '../processes.ts'
import { governed } from './gateway.ts'
import type { Target } from './target.ts'

const ENDS = ['taken', 'refused', 'hanging'] as const
type End = (typeof ENDS)[number]

/** Ours as `gateway-postgres`, with sinks whose far end takes everything, refuses connections, or never answers: one
 *  webhook of calls, or all sinks there are, with the content of calls. */
export const sinkTargets: readonly Target[] = (['webhook', 'sinks'] as const).flatMap((which) =>
  ENDS.map((end) => ({
    name: `${which}-${end}`,
    ours: true,
    onlyByName: true,
    start: async (place) => {
      const { callback_settings, ...every } = everySink(await farEnd(end))
      const { webhook } = callback_settings
      const one = {
        success_callback: ['webhook'],
        callback_settings: { webhook: { ...webhook, events: ['call.finished'] } },
      }
      const gatewaySettings = which === 'webhook' ? one : { ...every, callback_settings }
      return governed({ ...place, gatewaySettings }, { DATABASE_URL: await startPostgres() })
    },
  })),
)

async function farEnd(end: End): Promise<string> {
  if (end === 'refused') return `http://127.0.0.1:${await freePort()}`
  const program = new URL('../sink-end.ts', import.meta.url).pathname
  const child = start(process.execPath, [program, end], { core: LOAD_CORE })
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer]
  return `http://127.0.0.1:${JSON.parse(line.toString()).port}`
}
