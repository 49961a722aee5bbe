import { promptContent, type Template, templateOf } from './template.ts'

/** The template of a stored version; undefined if it is none in this build. */
export function storedTemplate(record: {
  readonly messages: unknown
  readonly variables: unknown
}): Template | undefined {
  const { messages, variables } = record
  const result = promptContent().safeParse({ messages, variables })
  return result.success ? templateOf(result.data) : undefined
}
