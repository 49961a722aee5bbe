import { availableParallelism } from 'node:os'

export interface NodeSettings {
  /** 0 picks a free port. */
  readonly port: number
  readonly host: string
  readonly dataFolder: string
  readonly configPath: string
  /** The time for running calls to end when the process stops. */
  readonly drainMs: number
  /** The number of processes that share the port. */
  readonly processes: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** The settings of the process from its environment. An empty variable counts as not set. */
export function nodeSettings(env: Environment): NodeSettings {
  return {
    port: whole(env, 'PORT', 8787, 65_535, 'a port number'),
    host: env.HOST || '127.0.0.1',
    dataFolder: env.GATEWAY_DATA_DIR || '.gateway',
    configPath: configPath(env),
    drainMs: 1000 * whole(env, 'GATEWAY_DRAIN_SECONDS', 30, 86_400, 'a number of seconds'),
    processes: processes(env),
  }
}

function processes(env: Environment): number {
  if (env.GATEWAY_PROCESSES === 'auto') return availableParallelism()
  return Math.max(1, whole(env, 'GATEWAY_PROCESSES', 1, 512, 'auto or a number of processes'))
}

export function configPath(env: Environment): string {
  return env.GATEWAY_CONFIG || 'gateway.yaml'
}

function whole(env: Environment, name: string, otherwise: number, most: number, kind: string): number {
  const text = env[name] || String(otherwise)
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value <= most) return value
  throw new Error(`${name} is '${text}', which is not ${kind} from 0 to ${most}.`)
}
