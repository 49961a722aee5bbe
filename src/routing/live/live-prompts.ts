import type { Log } from '../../lib/log.ts'
import type { PromptRecord, PromptRecords } from '../../stores/sql/prompts/prompt-records.ts'
import type { Prompt, PromptsByKey } from '../prompts/prompt.ts'
import { storedTemplate } from '../prompts/stored-template.ts'
import type { Template } from '../prompts/template.ts'
import type { LivePart } from './live-part.ts'

type Head = Pick<PromptRecord, 'key' | 'labels' | 'latest' | 'created_at'>

/** The number of versions that one statement reads. */
const AT_ONCE = 200

/** The prompts that calls may name, which the database alone has. Of their versions those are at hand that most calls
 *  mean: the newest one, and those with a label. Versions never change, so that each is read once. */
export function livePrompts(records: Pick<PromptRecords, 'active' | 'contents'>, log: Log): LivePart<PromptsByKey> {
  let known: PromptsByKey = new Map()

  function held({ key, created_at }: Head, version: number): Template | undefined {
    const prompt = known.get(key)
    return prompt?.createdAt === created_at ? prompt.versions.get(version) : undefined
  }

  function promptFrom(head: Head, templates: ReadonlyMap<string, Template>): Prompt {
    const { key, labels, latest, created_at: createdAt } = head
    const versions = new Map<number, Template>()
    for (const version of meantOf(head)) {
      const template = held(head, version) ?? templates.get(`${key}@${version}`)
      if (template) versions.set(version, template)
    }
    return { key, createdAt, labels, latest, versions }
  }

  return {
    ofFile: known,
    async read() {
      const heads = await records.active()
      const wanted = heads.flatMap((head) =>
        [...meantOf(head)].filter((version) => !held(head, version)).map((version) => ({ key: head.key, version })),
      )
      const pages = Array.from({ length: Math.ceil(wanted.length / AT_ONCE) }, (_, page) =>
        records.contents(wanted.slice(page * AT_ONCE, (page + 1) * AT_ONCE)),
      )
      const templates = new Map<string, Template>()
      for (const record of (await Promise.all(pages)).flat()) {
        const template = storedTemplate(record)
        const name = `${record.key}@${record.version}`
        if (template) templates.set(name, template)
        else log.error('registry.record_left_out', { prompt: name })
      }
      known = new Map(heads.map((head) => [head.key, promptFrom(head, templates)]))
      return known
    },
  }
}

const meantOf = ({ labels, latest }: Head) => new Set([latest, ...Object.values(labels)])
