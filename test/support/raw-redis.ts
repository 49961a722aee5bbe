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
      const keys = (await command('KEYS', `${prefix}*`)) as string[]
      const dump: Record<string, { value: unknown; endsAt: unknown }> = {}
      for (const key of keys.map((encoded) =>
        new TextDecoder().decode(Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0))),
      )) {
        dump[key] = { value: await command('DUMP', key), endsAt: await command('PEXPIRETIME', key) }
      }
      return dump
    },
  }
}
