import type { Key } from '../keys.ts'
import { milliseconds } from '../windows.ts'
import { luaScript, type Script } from './script.ts'

const TEXT = `
call('SET', key(), now, 'PX', number())
return { '1' }
`

export const stampScript: Script<{ readonly key: Key; readonly ttlSeconds: number }, void> = {
  text: luaScript(TEXT),
  encode: ({ key, ttlSeconds }) => ({ keys: [key], args: [milliseconds(ttlSeconds)] }),
  decode: (reply) => {
    reply.flag()
  },
}
