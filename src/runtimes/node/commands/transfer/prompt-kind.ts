import type { Fields } from '../../../../api/ui/records/record-fields.ts'
import { isMap } from '../../../../config/fields.ts'
import { asRequiredStrings, promptContent } from '../../../../routing/prompts/template.ts'
import { type AdminApi, all, ask } from '../admin-api.ts'
import { bodyOf } from './contracts.ts'
import { isSame } from './document.ts'
import type { Kind } from './kind.ts'

const PATH = '/ui/api/prompts'
const pathOf = (key: unknown) => `${PATH}/${encodeURIComponent(String(key))}`

const VERSION = { messages: null, variables: {}, note: '' }

const versionsOf = ({ versions }: Fields) => (Array.isArray(versions) ? (versions as Fields[]) : [])

/** Prompts with all their versions, which are numbered from 1 in their order and never change. */
export const prompts: Kind = {
  section: 'prompts',
  noun: 'prompt',
  id: ['key'],
  fields: { state: 'active', description: '', labels: {}, versions: [] },
  parts: ({ key, description, versions }) => [
    ...versionsOf({ versions }).map((value, index) => ({
      schema: bodyOf('post', `${PATH}/{key}/versions`),
      value,
      at: `versions[${index}]`,
    })),
    // The schema of a prompt is that of its first version too.
    { schema: bodyOf('post', PATH), value: { key, description, ...versionsOf({ versions })[0] }, at: '' },
  ],
  async read(api) {
    const records: Fields[] = []
    for (const { key, state, description, labels, latest } of await all(api, `${PATH}?state=any`)) {
      const versions: Fields[] = []
      for (let version = 1; version <= Number(latest); version++) {
        const found = await ask(api, 'GET', `${pathOf(key)}/versions/${version}`)
        versions.push(Object.fromEntries(Object.keys(VERSION).map((name) => [name, found[name]])))
      }
      records.push({ key, state, description, labels, versions })
    }
    return records
  },
  normal: (record) => ({ ...record, versions: versionsOf(record).map(normalVersion) }),
  check(record, _world, before) {
    const versions = versionsOf(record)
    if (versions.length === 0) return { path: 'versions', message: 'a prompt has one at least' }
    const { state = 'active', labels } = record
    if (state !== 'active' && state !== 'archived') return { path: 'state', message: 'must be active or archived' }
    const first = versionsOf(before ?? {})
    const other = first.findIndex((version, index) => versions[index] && !isSame(version, versions[index]))
    if (other >= 0) {
      const message = `is another one in the installation, and a version never changes; put it behind the ${first.length} there are`
      return { path: `versions[${other}]`, message }
    }
    const most = Math.max(versions.length, first.length)
    for (const [label, version] of Object.entries(isMap(labels) ? labels : {})) {
      if (Number.isInteger(version) && Number(version) >= 1 && Number(version) <= most) continue
      return { path: `labels.${label}`, message: 'must be the number of a version' }
    }
    return undefined
  },
  async create(api, record) {
    const { key, description = '' } = record
    const [first, ...others] = versionsOf(record)
    await ask(api, 'POST', PATH, { key, description, ...first })
    await bring(api, { ...record, versions: others }, {})
  },
  async change(api, record, before) {
    if (before.state === 'archived') await ask(api, 'POST', `${pathOf(record.key)}/unarchive`)
    const { description = '' } = record
    if (description !== before.description) await ask(api, 'PATCH', pathOf(record.key), { description })
    await bring(api, { ...record, versions: versionsOf(record).slice(versionsOf(before).length) }, before)
  },
  async remove(api, { key, state }) {
    if (state !== 'archived') await ask(api, 'POST', `${pathOf(key)}/archive`)
    await ask(api, 'DELETE', pathOf(key))
  },
}

/** Adds further versions, and brings labels and state to what is wanted. */
async function bring(api: AdminApi, record: Fields, before: Fields): Promise<void> {
  const path = pathOf(record.key)
  for (const version of versionsOf(record)) await ask(api, 'POST', `${path}/versions`, version)
  const [labels, former] = [Object(record.labels) as Fields, Object(before.labels) as Fields]
  for (const [label, version] of Object.entries(labels)) {
    if (former[label] !== version) await ask(api, 'PUT', `${path}/labels/${encodeURIComponent(label)}`, { version })
  }
  for (const label of Object.keys(former)) {
    if (labels[label] === undefined) await ask(api, 'DELETE', `${path}/labels/${encodeURIComponent(label)}`)
  }
  if (record.state === 'archived') await ask(api, 'POST', `${path}/archive`)
}

/** A version with the gateway's defaults for fields that it leaves out. */
function normalVersion(version: Fields): Fields {
  const { messages, variables } = version
  const read = promptContent().safeParse({ messages, ...(variables == null ? {} : { variables }) })
  if (!read.success) return { ...VERSION, ...version }
  return {
    ...VERSION,
    ...version,
    ...read.data,
    variables: read.data.variables ?? asRequiredStrings(read.data.messages),
  }
}
