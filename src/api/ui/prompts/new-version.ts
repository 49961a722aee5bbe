import type * as z from 'zod'
import { accepted } from '../../../config/accepted.ts'
import { asRequiredStrings, promptContent } from '../../../routing/prompts/template.ts'
import type { NewVersion } from '../../../stores/sql/prompts/prompt-records.ts'
import type { Scope } from '../../scope.ts'
import { makerOf } from '../maker.ts'
import type { versionFields } from './prompt-answers.ts'

type Fields = z.output<z.ZodObject<ReturnType<typeof versionFields>>>

/** A version as it is stored: its placeholders are all declared. */
export function newVersion(scope: Pick<Scope, 'caller'>, { note, labels, ...content }: Fields): NewVersion {
  const { messages, variables } = accepted(promptContent(), content)
  return {
    messages,
    variables: variables ?? asRequiredStrings(messages),
    createdBy: makerOf(scope),
    note,
    labels: [...new Set(labels)],
  }
}
