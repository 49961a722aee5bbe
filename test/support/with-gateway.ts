import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { FullGateway, FullGatewayOptions } from './full-gateway.node.ts'
import { loadGateway, startGateway, type TestGateway } from './gateway.ts'

/** The text of a configuration file; made before the first test where that takes something that is not there earlier.
 *  Undefined where this machine lacks something: then no gateway is started. */
type Configuration = string | (() => string | Promise<string | undefined>)

interface Restartable {
  /** Closes the one that runs, and starts another in its place. */
  restart(yaml: string): Promise<void>
}

/** The gateway of a test file, or of the `describe` around the call: started before the tests, closed behind them. Without
 *  a configuration it starts with the first `restart`. */
export function withGateway(configuration?: Configuration): TestGateway & Restartable {
  // Before the first test, which has its time for itself.
  beforeAll(async () => void (await loadGateway()))
  const { running, restart, again, close } = lifetime(startGateway, configuration)
  // A test that is asked once more meets no kept answer, no count and no signal of its first try.
  beforeEach(async ({ task }) => {
    if (task.result?.retryCount) await again()
  })
  return {
    get runtime() {
      return running().runtime
    },
    get store() {
      return running().store
    },
    get url() {
      return running().url
    },
    get logs() {
      return running().logs
    },
    get records() {
      return running().records
    },
    fetch: (path, init) => running().fetch(path, init),
    chat: (body, init) => running().chat(body, init),
    idle: () => running().idle(),
    restart,
    close,
  }
}

/** The same over real stores, as `npm start` makes it. */
export function withFullGateway(
  configuration?: Configuration,
  options?: FullGatewayOptions,
): FullGateway & Restartable {
  const start = async (yaml: string) => (await import('./full-gateway.node.ts')).startFullGateway(yaml, options)
  const { running, restart, close } = lifetime(start, configuration)
  return {
    get url() {
      return running().url
    },
    get sql() {
      return running().sql
    },
    get blobs() {
      return running().blobs
    },
    fetch: (path, init) => running().fetch(path, init),
    chat: (body) => running().chat(body),
    setupToken: () => running().setupToken(),
    idle: () => running().idle(),
    restart,
    close,
  }
}

function lifetime<Gateway extends { close(): Promise<void> }>(
  start: (yaml: string) => Promise<Gateway>,
  configuration: Configuration | undefined,
) {
  let current: Gateway | undefined
  let from = ''
  async function close(): Promise<void> {
    const ending = current
    current = undefined
    await ending?.close()
  }
  async function restart(yaml: string): Promise<void> {
    await close()
    from = yaml
    current = await start(yaml)
  }
  async function again(): Promise<void> {
    if (current) await restart(from)
  }
  function running(): Gateway {
    if (!current) throw new Error('no gateway was started here')
    return current
  }
  if (configuration !== undefined)
    beforeAll(async () => {
      const yaml = typeof configuration === 'string' ? configuration : await configuration()
      if (yaml !== undefined) await restart(yaml)
    })
  afterAll(close)
  return { running, restart, again, close }
}
