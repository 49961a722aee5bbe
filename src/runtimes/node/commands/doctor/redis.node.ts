import { createClient } from '@redis/client'
import type { Config } from '../../../../config/schema.ts'
import { reveal } from '../../../../lib/secret.ts'
import { RedisRefusal } from '../../../../stores/kv/redis-store.ts'
import { redisAddress } from '../../../../stores/kv/tcp/redis-address.ts'
import { redisTls } from '../../../../stores/kv/tcp/redis-tls.node.ts'
import { storeAdvice } from '../../setup/store-advice.ts'
import { type Finding, fail, ok, skewOf, warn } from './finding.ts'

/** Of older ones the scripts of the gateway were never tried. */
const OLDEST_REDIS = 6
const SLOW_MS = 20
const ANSWER_MS = 5000

type Command = (...words: string[]) => Promise<unknown>

/** Checks the shared store. */
export async function redis({ general_settings: settings }: Config): Promise<Finding[]> {
  if (!settings.redis_url) return [ok('redis', 'none: limits are counted in the process')]
  const url = reveal(settings.redis_url)
  try {
    if (!/^rediss?:/.test(url)) return await examined(overHttp(url, settings.redis_token))
    const address = redisAddress(url)
    const client = createClient({
      url,
      RESP: 2,
      socket: {
        connectTimeout: ANSWER_MS,
        reconnectStrategy: false,
        ...(address.isSecure && { tls: true, ...redisTls(address) }),
      },
    })
    client.on('error', () => {})
    await client.connect()
    try {
      return await examined((...words) => client.sendCommand(words))
    } finally {
      client.destroy()
    }
  } catch (error) {
    const why = (error as { readonly code?: string }).code ?? new RedisRefusal((error as Error).message).word
    return [fail('redis', `cannot be asked (${why}): ${storeAdvice(why)}`)]
  }
}

/** Redis over REST, as Upstash speaks it. */
function overHttp(url: string, token: Config['general_settings']['redis_token']): Command {
  return async (...words) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token ? reveal(token) : ''}` },
      body: JSON.stringify(words),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const { result, error } = (await response.json().catch(() => ({}))) as { result?: unknown; error?: string }
    if (response.status === 400 && error) throw new Error(error)
    if (!response.ok) throw Object.assign(new Error('refused'), { code: `status ${response.status}` })
    return result
  }
}

/** No store has them: removing both in a script shows, and changes nothing, whether those of the gateway can run. */
const UNUSED_KEYS = ['gateway:unused:1', 'gateway:unused:2']

async function examined(command: Command): Promise<Finding[]> {
  const info = String(await command('INFO', 'server').catch(() => ''))
  await command('EVAL', "return redis.call('DEL', KEYS[1], KEYS[2])", '2', ...UNUSED_KEYS)
  const beforeMs = Date.now()
  const [seconds, micros] = (await command('TIME')) as [string, string]
  const afterMs = Date.now()
  const version = /redis_version:(\S+)/.exec(info)?.[1]
  const says = `${version === undefined ? 'a version that it does not tell' : `Redis ${version}`}, ${afterMs - beforeMs} ms away`
  const theirMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  return [
    version !== undefined && Number.parseInt(version, 10) < OLDEST_REDIS
      ? fail('redis', `${says}: version ${OLDEST_REDIS} or newer is needed`)
      : afterMs - beforeMs > SLOW_MS
        ? warn('redis', `${says}, and every call waits for it once: put the gateway nearer to it`)
        : ok('redis', says),
    skewOf('redis clock', theirMs, beforeMs, afterMs),
  ]
}
