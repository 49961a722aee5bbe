import { LIFETIME_MS, versionKey } from '../keys.ts'
import type { Change } from '../shared-store.ts'
import { readFlag } from './reply.ts'
import { luaScript, type Script, written } from './script.ts'

const TEXT = `
for _ = 1, number() do
  local record, version = key(), text()
  if tonumber(version) > numeric(call('GET', record)) then
    call('SET', record, version, 'PX', '${LIFETIME_MS.version}')
  end
end
for _ = 1, number() do call('DEL', key()) end
return { '1' }
`

export const publishScript: Script<Change, boolean> = {
  text: luaScript(TEXT),
  encode: ({ records, removed }) => ({
    keys: [...records.map(({ record }) => versionKey(record)), ...removed],
    args: written([records.length, ...records.map(({ version }) => version), removed.length]),
  }),
  decode: readFlag,
}
