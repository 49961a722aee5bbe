/** Redis commands of a test's own, over the HTTP endpoint, for looking at what a store has really written. */
export interface RawRedis {
  command(...command: (string | number)[]): Promise<unknown>
  /** Every key below a prefix: its serialized value and when it ends. */
  dump(prefix: string): Promise<Record<string, { value: unknown; endsAt: unknown }>>
}

export function rawRedis(url: string, token: string): RawRedis {
  async function command(...command: (string | number)[]): Promise<unknown> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'upstash-encoding': 'base64' },
      body: JSON.stringify(command),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: string }
    if (error) throw new Error(error)
    return result
  }
  return {
    command,
    async dump(prefix) {
      const all = (await command('EVAL', EVERYTHING, 0, `${prefix}*`)) as [string, unknown, unknown][]
      return Object.fromEntries(all.map(([key, value, endsAt]) => [textOf(key), { value, endsAt }]))
    },
  }
}

const EVERYTHING = `
local all = {}
for at, key in ipairs(redis.call('KEYS', ARGV[1])) do
  all[at] = { key, redis.call('DUMP', key), redis.call('PEXPIRETIME', key) }
end
return all`

const textOf = (base64: string) => new TextDecoder().decode(Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0)))
