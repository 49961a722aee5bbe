import type { PromptRecords } from '../../stores/sql/prompts/prompt-records.ts'
import type { Prompt } from './prompt.ts'
import { storedTemplate } from './stored-template.ts'
import type { Template } from './template.ts'

/** The most versions that are kept. */
const MOST = 100

/** Versions that have no label and are not the newest: read when a call first names them, and kept while calls do. */
export interface PromptVersions {
  held(prompt: Prompt, version: number): Template | undefined
  /** Reads it from the database; undefined if it is gone. */
  load(prompt: Prompt, version: number): Promise<Template | undefined>
}

export function promptVersions(records: Pick<PromptRecords, 'contents'>): PromptVersions {
  /** By name, the least recently used first. */
  const kept = new Map<string, Template>()
  const nameOf = ({ key, createdAt }: Prompt, version: number) => `${key}@${version} ${createdAt}`
  function keep(name: string, template: Template): void {
    kept.delete(name)
    kept.set(name, template)
    if (kept.size <= MOST) return
    for (const first of kept.keys()) {
      kept.delete(first)
      break
    }
  }
  return {
    held(prompt, version) {
      const name = nameOf(prompt, version)
      const template = kept.get(name)
      if (template) keep(name, template)
      return template
    },
    // Not shared between requests: on Workers a request may not wait for the database of another one.
    async load(prompt, version) {
      const [record] = await records.contents([{ key: prompt.key, version }])
      const template = record && storedTemplate(record)
      if (template) keep(nameOf(prompt, version), template)
      return template
    },
  }
}
