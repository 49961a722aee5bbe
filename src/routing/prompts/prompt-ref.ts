import type { Prompt } from './prompt.ts'

const KEY = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}'
const LABEL = '[A-Za-z][A-Za-z0-9._-]{0,63}'

export const PROMPT_KEY = new RegExp(`^${KEY}$`)
export const PROMPT_LABEL = new RegExp(`^${LABEL}$`)
/** `key`, `key@3` or `key:label`. */
export const PROMPT_REF = new RegExp(`^(${KEY})(?:@([1-9]\\d{0,8})|:(${LABEL}))?$`)

/** The label of the newest version. It cannot be moved. */
const LATEST = 'latest'
/** The label that a bare key means, where the prompt has it. */
const PRODUCTION = 'production'

/** What a reference names: a prompt, and one of its versions or labels. */
export interface PromptRef {
  readonly key: string
  readonly version: number | undefined
  readonly label: string | undefined
}

/** undefined for a text that is no reference. */
export function readPromptRef(text: string): PromptRef | undefined {
  const [, key, version, label] = PROMPT_REF.exec(text) ?? []
  if (key === undefined) return undefined
  return { key, version: version === undefined ? undefined : Number(version), label }
}

/** The version that a reference means; undefined if the prompt has no such version or label. A bare key means the label
 *  `production`, or the newest version of a prompt without it. */
export function versionMeant(
  { labels, latest }: Pick<Prompt, 'labels' | 'latest'>,
  { version, label }: Omit<PromptRef, 'key'>,
): number | undefined {
  if (version !== undefined) return version <= latest ? version : undefined
  if (label === LATEST) return latest
  if (label !== undefined) return Object.hasOwn(labels, label) ? labels[label] : undefined
  return Object.hasOwn(labels, PRODUCTION) ? labels[PRODUCTION] : latest
}
