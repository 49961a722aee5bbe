import type { Key } from '../keys.ts'
import { milliseconds } from '../windows.ts'
import { readFlag } from './reply.ts'
import { inDigits, luaScript, type Script } from './script.ts'

const TEXT = `
call('SET', key(), now, 'PX', number())
return { '1' }
`

export const stampScript: Script<{ readonly key: Key; readonly ttlSeconds: number }, void> = {
  text: luaScript(TEXT),
  encode: ({ key, ttlSeconds }) => ({ keys: [key], args: inDigits(milliseconds(ttlSeconds)) }),
  decode: (reply) => {
    readFlag(reply)
  },
}
