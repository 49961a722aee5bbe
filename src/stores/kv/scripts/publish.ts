import { LIFETIME_MS, versionKey } from '../keys.ts'
import type { RecordVersion } from '../shared-store.ts'
import { luaScript, type Script } from './script.ts'

const TEXT = `
for _ = 1, #KEYS do
  local record, version = key(), text()
  if tonumber(version) > numeric(call('GET', record)) then
    call('SET', record, version, 'PX', '${LIFETIME_MS.version}')
  end
end
return { '1' }
`

export const publishScript: Script<readonly RecordVersion[], void> = {
  text: luaScript(TEXT),
  encode: (records) => ({
    keys: records.map(({ record }) => versionKey(record)),
    args: records.map(({ version }) => version),
  }),
  decode: (reply) => {
    reply.flag()
  },
}
